"""What a crash leaves behind, and how partitions change hands."""

import asyncio

import pytest
from notifier.builders import event, route
from notifier.harness import END, Hanging, Harness, Scripted, kinds, play
from support.manual_clock import ManualClock
from support.waiting import until
from warren_notifier.channels.channel import Refused, Result, Retry
from warren_notifier.routing.decisions import delivery_id
from warren_notifier.state.telling import Delivery

ERR = event("ERR")
OK = event("OK", "ERR", event_id="event-2")
OPENING = delivery_id("event-1", "all", "mail")
CLOSING = delivery_id("event-2", "all", "mail")


def test_a_topic_that_began_anew_is_no_replay() -> None:
    mail = Scripted()
    log = play({"mail": mail}, ERR, read=END + 7)
    play({"mail": mail}, OK, log=log, read=0)
    assert mail.ids[-1] == CLOSING


class TestRevoking:
    """Partitions go to another notifier."""

    def test_waiting_deliveries_stop_and_others_go_on(self) -> None:
        hanging = Hanging()

        async def revoked(harness: Harness) -> None:
            await harness.read(ERR, event(group="g", event_id="g1"))
            await until(lambda: len(hanging.sent) == 2)
            revoking = asyncio.create_task(harness.dispatcher.revoke([0], grace=60))
            await asyncio.sleep(0)
            hanging.let_go.set()
            await revoking
            assert harness.queues["mail"].idle
            assert harness.owned.partitions == set()

        log = play({"mail": hanging}, revoked)
        assert log.outcomes() == ["delivered", "delivered"]
        assert [s.deliveries for s in log.states()] == [[], []]

    def test_what_was_decided_meanwhile_is_for_the_next_owner_to_send(self) -> None:
        mail = Scripted()

        async def revoked(harness: Harness) -> None:
            harness.clock.advance(600)
            harness.writer.open.clear()
            repeating = asyncio.create_task(harness.tick())
            await until(lambda: len(harness.pending()) == 1)
            revoking = asyncio.create_task(harness.dispatcher.revoke([0], grace=60))
            await until(lambda: not harness.owned.partitions)
            assert not revoking.done()
            harness.writer.open.set()
            await revoking
            await repeating

        log = play({"mail": mail}, ERR, revoked, routes=[route(repeat_interval=600)])
        assert mail.ids == [OPENING]
        (state,) = log.states()
        assert [delivery.kind for delivery in state.deliveries] == ["repeated"]


def test_what_waited_behind_others_never_arrived_so_nobody_awaits_its_end() -> None:
    """Killed while one group's opening is under way, and another's waits until it is over."""
    mail = Hanging(concurrency=1)
    openings = [event(group=group, event_id=f"{group}-1") for group in ("one", "two")]
    over = event("OK", "ERR", group="two", event_id="two-2")

    async def first(harness: Harness) -> None:
        await harness.read(*openings)
        await until(lambda: bool(mail.sent))

    async def second(harness: Harness) -> None:
        mail.let_go = asyncio.Event()  # one of this life's loop
        harness.start()
        await until(lambda: len(mail.sent) == 2)
        await harness.read(over, offset=2)
        mail.let_go.set()
        await harness.idle()

    log = play({"mail": mail}, first)
    uncertain = {state.group: told.uncertain for state in log.states() for told in state.notified}
    assert uncertain == {"one": True, "two": False}
    play({"mail": mail}, second, log=log, stopped=True)
    assert [(d.subject.group, d.pending.kind) for d in mail.sent] == [("one", "opened")] * 2
    assert log.outcomes()[-1] == "delivered"
    assert "suppressed" in log.outcomes()


@pytest.mark.parametrize("failures", [0, 1, 3])
def test_an_opening_that_was_under_way_when_it_was_killed_is_closed(failures: int) -> None:
    """It may have arrived; out of date, it is not sent again."""
    mail = Scripted()

    class Killed(Scripted):
        async def send(self, delivery: Delivery) -> Result:
            if len(self.sent) == failures:
                self.sent.append(delivery)
                await asyncio.Event().wait()
            return await super().send(delivery)

    killed = Killed(*[Retry("HTTP 503")] * failures)

    async def read(harness: Harness) -> None:
        await harness.read(ERR)
        await until(lambda: len(killed.sent) == failures + 1)

    log = play({"mail": killed}, read)
    play({"mail": mail}, OK, Harness.start, Harness.idle, log=log, read=1, stopped=True)
    assert mail.ids[-1] == CLOSING
    assert log.states() == []


@pytest.mark.parametrize("result", [Refused("HTTP 401"), Retry("HTTP 503")])
def test_what_was_refused_or_given_up_is_told_by_a_notifier_that_is_started_anew(
    result: Result,
) -> None:
    """Its address or token may be right now; the end then follows."""
    clock = ManualClock(1000)
    mail, repaired = Scripted(*[result] * 100), Scripted()
    repaired.identity = mail.identity
    log = play({"mail": mail}, ERR, clock=clock, deadline_ms=60_000)
    play({"mail": repaired}, OK, log=log, clock=clock)
    assert kinds(repaired) == ["opened", "resolved"]
    assert log.outcomes()[-2:] == ["delivered", "delivered"]
