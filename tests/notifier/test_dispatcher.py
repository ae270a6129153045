"""From changes to deliveries, through queues and state in memory."""

import pytest
from notifier.builders import OPENED_AT, event, incident
from notifier.harness import Hanging, Harness, Scripted, play
from support.manual_clock import ManualClock
from support.waiting import until
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.routing.decisions import delivery_id
from warren_notifier.source.consumer import Backlog

ERR = event("ERR")
OK = event("OK", "ERR", event_id="event-2")
OPENING = delivery_id("event-1", "all", "mail")
CLOSING = delivery_id("event-2", "all", "mail")


def test_an_incident_from_beginning_to_end() -> None:
    mail = Scripted()
    log = play({"mail": mail}, ERR, lambda harness: states.append(len(harness.log.states())), OK)
    assert states == [1]
    assert mail.ids == [OPENING, CLOSING]
    assert mail.sent[0].event == incident(ERR)
    assert [(a.kind, a.outcome, a.attempt) for a in log.audit()] == [
        ("opened", "delivered", 1),
        ("resolved", "delivered", 1),
    ]
    assert log.states() == []
    assert {record.partition for record in log.records} == {0}
    assert log.topic("notifications")[0].key == b"prod|billing"


states: list[int] = []


def test_two_failures_then_success_is_three_attempts_of_one_delivery() -> None:
    mail = Scripted(Retry("HTTP 500"), Retry("HTTP 500"))
    log = play({"mail": mail}, ERR, clock=ManualClock(1000))
    assert mail.ids == [OPENING] * 3
    assert [(a.outcome, a.attempt, a.at, a.next_attempt_at) for a in log.audit()] == [
        ("failed", 1, 1000, 3000),
        ("failed", 2, 3000, 7000),
        ("delivered", 3, 7000, None),
    ]


def test_a_refusal_is_dead_lettered_and_not_tried_again() -> None:
    mail = Scripted(Refused("HTTP 404"))
    log = play({"mail": mail}, ERR, OK)
    assert mail.ids == [OPENING]
    assert log.outcomes() == ["refused", "suppressed"]
    (letter,) = log.dead_letters()
    assert (letter.service, letter.topic, letter.offset) == ("notifier", "t.incidents", 0)
    assert letter.value == incident(ERR).to_bytes()
    assert f"delivery {OPENING} (route all, channel mail) refused" in letter.reason
    assert "HTTP 404" in letter.reason


def test_at_the_deadline_it_is_given_up_and_the_end_is_suppressed() -> None:
    mail = Scripted(*[Retry("HTTP 503")] * 100)
    log = play({"mail": mail}, ERR, OK, deadline_ms=600_000)
    assert set(mail.ids) == {OPENING}
    assert set(log.outcomes()[:-2]) == {"failed"}
    assert log.outcomes()[-2:] == ["given_up", "suppressed"]
    assert len(log.dead_letters()) == 1


@pytest.mark.parametrize(
    ("result", "sent"),
    [
        (Delivered("taken"), [OPENING, CLOSING]),
        (Retry("no answer", uncertain=True), [OPENING, CLOSING]),
        (Retry("HTTP 503"), [OPENING]),
        (Refused("HTTP 404"), [OPENING]),
    ],
)
def test_an_end_that_is_decided_while_its_opening_is_under_way(
    result: Result, sent: list[str]
) -> None:
    """It is sent if the opening arrived or may have arrived; that is not sent again."""
    mail = Hanging(result)

    async def both(harness: Harness) -> None:
        await harness.read(ERR)
        await until(lambda: mail.sent)
        await harness.read(OK, offset=1)
        mail.let_go.set()
        await harness.idle()

    log = play({"mail": mail}, both)
    assert mail.ids == sent
    ends = [a.delivery_id for a in log.audit() if a.outcome != "failed"]
    assert sorted(ends) == sorted([OPENING, CLOSING])
    assert log.states() == []


def test_a_receiver_that_comes_back_is_told_what_is_so_and_how_much_was_left_out() -> None:
    """It refused the opening, and meanwhile the group changed 40 times; killed in between."""
    clock = ManualClock(OPENED_AT)
    away, mail = Scripted(*[Retry("HTTP 503", 3000)] * 100), Scripted()
    mail.identity = away.identity
    changes = [event("WARN" if n % 2 else "ERR", event_id=f"e{n}") for n in range(41)]
    first, *others = changes
    log = play(
        {"mail": away},
        first,
        lambda _: until(lambda: len(away.sent) == 1),
        *others,
        clock=clock,
        stopped=True,
    )
    play({"mail": mail}, log=log, clock=clock)
    (told,) = mail.sent
    assert (told.pending.event_id, told.pending.left_out) == ("e40", 40)
    assert log.outcomes().count("superseded") == 40


def test_a_hanging_channel_and_a_failing_group_delay_nobody_else() -> None:
    hook, mail = Scripted(), Hanging(concurrency=1)

    async def read(harness: Harness) -> None:
        await harness.read(*[event(group=f"g{n}", event_id=f"e{n}") for n in range(20)])
        await until(lambda: len(hook.sent) == 20)
        assert len(mail.sent) == 1
        assert sum(one.pending.channel == "mail" for one in harness.pending()) == 20
        mail.let_go.set()
        await harness.idle()
        assert len(mail.sent) == 20

    play({"mail": mail, "hook": hook}, read)


def test_bad_events_are_dead_lettered() -> None:
    mail = Scripted()
    log = play({"mail": mail}, [b"{", None, ERR])
    assert [(letter.offset, letter.key, letter.value) for letter in log.dead_letters()] == [
        (0, b"key", b"{"),
        (1, b"key", None),
    ]
    assert mail.ids == [OPENING]


def test_before_the_first_start_only_what_lasts_is_told() -> None:
    mail = Scripted()
    old = [event(group=f"g{n}", event_id=f"e{n}") for n in range(3)]
    ends = event("OK", "ERR", group="g1", event_id="e1-end")
    new = event(group="new", event_id="new")
    play(
        {"mail": mail},
        old,
        lambda _: early.extend(mail.sent),
        [ends, new],
        backlog=Backlog(until=4),
    )
    assert early == []
    assert [delivery.pending.event_id for delivery in mail.sent] == ["e0", "e2", "new"]


early: list[object] = []
