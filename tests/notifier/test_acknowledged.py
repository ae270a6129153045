"""Receivers that know acknowledgements are told that somebody looks after an incident."""

from typing import Any

import pytest
from notifier.asked import acknowledgement, put
from notifier.builders import OPENED_AT, event, route
from notifier.harness import Harness, Log, Scripted, kinds, play
from support.waiting import until
from warren.silences import Silences
from warren_notifier.channels.channel import Delivered, Refused, Retry
from warren_notifier.state.telling import LOOKED_AFTER, NOT_LOOKED_AFTER

END = event("OK", "ERR", event_id="event-9")


class Pager(Scripted):
    """A receiver that takes acknowledgements."""

    takes_acknowledgements = True


class Desk:
    def __init__(self, *results: Any) -> None:
        self.pager, self.mail, self.asked = Pager(*results), Scripted(), Silences()

    def play(self, *steps: Any, **more: Any) -> Log:
        channels = {"pager": self.pager, "mail": self.mail}
        return play(channels, *steps, silences=self.asked, **more)

    def acknowledge(self, **fields: Any) -> Any:
        return lambda _: put(self.asked, acknowledgement(**fields)) and None


async def tick(harness: Harness) -> None:
    await harness.tick()


async def delivered(harness: Harness) -> None:
    await until(lambda: not harness.pending())


async def failed_once(harness: Harness) -> None:
    def attempts() -> list[int]:
        return [one.attempts for state in harness.log.states() for one in state.deliveries]

    await until(lambda: attempts() == [1])


async def quiet(harness: Harness) -> None:
    """Until all is told, and a further look finds nothing more to tell."""
    harness.start()
    for _ in range(2):
        await until(lambda: not harness.pending())
        await harness.tick()
    await until(lambda: not harness.pending())


def test_it_is_told_once_and_only_to_who_knows_such_a_thing() -> None:
    desk = Desk()
    log = desk.play(
        event(),
        desk.acknowledge(why="restarting it", at=OPENED_AT + 5),
        quiet,
        quiet,
        desk.acknowledge(by="grace", at=OPENED_AT + 7),
        quiet,
        END,
        desk.acknowledge(at=OPENED_AT + 9),
        quiet,
    )
    assert kinds(desk.pager) == ["opened", "acknowledged", "acknowledged", "resolved"]
    assert kinds(desk.mail) == ["opened", "resolved"]
    first, second = (one.pending.acknowledged for one in desk.pager.sent[1:3])
    assert first is not None
    assert (first.by, first.why, first.at) == ("ada", "restarting it", OPENED_AT + 5)
    assert second is not None
    assert second.by == "grace"
    assert len(set(desk.pager.ids)) == 4
    assert [one.kind for one in log.audit() if one.channel == "pager"] == kinds(desk.pager)
    assert log.states() == []


def test_who_does_not_take_it_is_not_asked_for_ever() -> None:
    desk = Desk(Delivered("taken"), Refused("unknown alert"))
    desk.play(event(), desk.acknowledge(), quiet, quiet)
    assert kinds(desk.pager) == ["opened", "acknowledged"]


@pytest.mark.parametrize("then", ["news", "end", "withdrawn"])
def test_what_goes_before_one_that_was_not_taken(then: str) -> None:
    desk = Desk(Delivered("taken"), Retry("no"))
    steps = {
        "news": [event("ERR", "WARN", event_id="event-2")],
        "end": [END],
        "withdrawn": [lambda _: desk.asked.apply_acknowledgement(b"incident-1", None), tick],
    }[then]
    log = desk.play(
        event("WARN"),
        delivered,
        desk.acknowledge(),
        tick,
        failed_once,
        *steps,
        quiet,
        stopped=True,
    )
    told = [(one.pending.kind, one.pending.status) for one in desk.pager.sent]
    assert told[:2] == [("opened", "WARN"), ("acknowledged", "WARN")]
    if then == "news":
        assert told[2:] == [("changed", "ERR"), ("acknowledged", "ERR")]
        _, once, change, again = desk.pager.sent
        assert once.pending.delivery_id == again.pending.delivery_id
        assert change.pending.left_out == 0, "it is no change of the status"
    elif then == "end":
        assert told[2:] == [("resolved", "OK")]
        assert log.outcomes("pager") == ["delivered", "failed", "superseded", "delivered"]
    else:
        assert told[2:] == []
        assert log.audit()[-1].detail == NOT_LOOKED_AFTER


def test_a_reminder_that_is_tried_again_is_withdrawn_when_somebody_looks_after_it() -> None:
    desk = Desk()
    desk.mail = Scripted(Delivered("taken"), Retry("no"))
    log = play(
        {"mail": desk.mail},
        event(),
        delivered,
        600,
        failed_once,
        desk.acknowledge(),
        tick,
        quiet,
        END,
        quiet,
        routes=[route(repeat_interval=600)],
        silences=desk.asked,
        stopped=True,
    )
    assert kinds(desk.mail) == ["opened", "repeated", "resolved"]
    assert log.outcomes() == ["delivered", "failed", "suppressed", "delivered"]
    assert log.audit()[2].detail == LOOKED_AFTER
