"""From changes to deliveries, and what a crash leaves behind."""

from __future__ import annotations

import asyncio

import pytest
from notifier.builders import OPENED_AT, event, route
from notifier.harness import Hanging, Harness, Log, Scripted, life
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import GroupStatusName
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.routing.decisions import delivery_id

ERR = event("ERR")
OK = event("OK", "ERR", event_id="event-2")
OPENING = delivery_id("event-1", "all", "mail")
CLOSING = delivery_id("event-2", "all", "mail")


def test_an_incident_from_beginning_to_end() -> None:
    log, mail = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail})
        await harness.assign()
        assert await harness.read(ERR, offset=10) == 11
        await harness.idle()
        assert len(log.states()) == 1
        assert await harness.read(OK, offset=11) == 12
        await harness.idle()

    life(scenario)
    assert mail.ids == [OPENING, CLOSING]
    assert mail.sent[0].event.encode() == ERR.to_bytes()
    assert [(a.kind, a.outcome, a.attempt) for a in log.audit()] == [
        ("opened", "delivered", 1),
        ("resolved", "delivered", 1),
    ]
    assert log.states() == []
    assert {record.partition for record in log.records} == {0}
    assert log.topic("notifications")[0].key == b"prod|billing"


def test_two_failures_then_success_is_three_attempts_of_one_delivery() -> None:
    log, mail, clock = Log(), Scripted(Retry("HTTP 500"), Retry("HTTP 500")), ManualClock(1000)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail}, clock=clock)
        await harness.assign()
        await harness.read(ERR)
        await harness.idle()

    life(scenario)
    assert mail.ids == [OPENING] * 3
    assert [(a.outcome, a.attempt, a.at, a.next_attempt_at) for a in log.audit()] == [
        ("failed", 1, 1000, 3000),
        ("failed", 2, 3000, 7000),
        ("delivered", 3, 7000, None),
    ]


def test_a_refusal_is_dead_lettered_and_not_tried_again() -> None:
    log, mail = Log(), Scripted(Refused("HTTP 404"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail})
        await harness.assign()
        await harness.read(ERR, offset=41)
        await harness.idle()
        await harness.read(OK, offset=42)
        await harness.idle()

    life(scenario)
    assert mail.ids == [OPENING]
    assert log.outcomes() == ["refused", "suppressed"]
    (letter,) = log.dead_letters()
    assert (letter.service, letter.topic, letter.partition, letter.offset) == (
        "notifier",
        "t.lag-status",
        0,
        41,
    )
    assert letter.value == ERR.to_bytes()
    assert "HTTP 404" in letter.reason
    assert OPENING in letter.reason


def test_at_the_deadline_it_is_given_up_and_the_end_is_suppressed() -> None:
    log, mail = Log(), Scripted(*[Retry("HTTP 503")] * 100)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail}, deadline_ms=600_000)
        await harness.assign()
        await harness.read(ERR)
        await harness.idle()
        await harness.read(OK, offset=1)
        await harness.idle()

    life(scenario)
    assert set(mail.ids) == {OPENING}
    assert set(log.outcomes()[:-2]) == {"failed"}
    assert log.outcomes()[-2:] == ["given_up", "suppressed"]
    assert len(log.dead_letters()) == 1


def test_an_opening_that_was_not_sent_before_its_end_is_superseded() -> None:
    log, mail = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail})
        await harness.assign()
        await harness.read(ERR, OK)
        await harness.idle()

    life(scenario)
    assert mail.ids == []
    assert [(a.delivery_id, a.outcome) for a in log.audit()] == [
        (OPENING, "superseded"),
        (CLOSING, "suppressed"),
    ]
    assert log.states() == log.dead_letters() == []


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
    log, mail = Log(), Hanging(result)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail})
        await harness.assign()
        await harness.read(ERR)
        await until(lambda: mail.sent)
        await harness.read(OK, offset=1)
        mail.let_go.set()
        await harness.idle()

    life(scenario)
    assert mail.ids == sent
    ends = [a.delivery_id for a in log.audit() if a.outcome != "failed"]
    assert sorted(ends) == sorted([OPENING, CLOSING])
    assert log.states() == []


def test_only_the_newest_status_is_told() -> None:
    log, mail = Log(), Hanging()
    statuses: list[GroupStatusName] = ["WARN", "ERR", "WARN", "ERR", "WARN"]
    flaps = [event(status, event_id=f"e{n}") for n, status in enumerate(statuses)]

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail})
        await harness.assign()
        await harness.read(flaps[0])
        await until(lambda: mail.sent)
        await harness.read(*flaps[1:4], offset=1)
        mail.let_go.set()
        await harness.idle()
        await harness.read(flaps[4], offset=4)
        await harness.idle()

    life(scenario)
    assert [d.pending.event_id for d in mail.sent] == ["e0", "e3", "e4"]
    assert [d.pending.kind for d in mail.sent] == ["opened", "changed", "changed"]
    assert sorted(log.outcomes()) == ["delivered"] * 3 + ["superseded"] * 2


def test_a_receiver_that_comes_back_is_told_what_is_so_and_how_much_was_left_out() -> None:
    """It refused the opening, and meanwhile the group changed 40 times; killed in between."""
    log, clock = Log(), ManualClock(OPENED_AT)
    away, mail = Scripted(*[Retry("HTTP 503", 3000)] * 100), Scripted()
    mail.identity = away.identity

    async def first(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": away}, clock=clock, stopped=True)
        await harness.assign()
        for number in range(41):
            status: GroupStatusName = "WARN" if number % 2 else "ERR"
            await harness.read(event(status, event_id=f"e{number}"), offset=number)
            await until(lambda n=number: len(away.sent) >= 1 or n == 0)

    async def second(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail}, clock=clock)
        await harness.assign(committed=41)
        await harness.idle()

    life(first)
    life(second)
    (told,) = mail.sent
    assert (told.pending.event_id, told.pending.left_out) == ("e40", 40)
    assert log.outcomes().count("superseded") == 40


def test_a_hanging_channel_and_a_failing_group_delay_nobody_else() -> None:
    log, hook = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        mail = Hanging(concurrency=1)
        routes = [route(channels=("mail", "hook"))]
        harness = Harness(log, tasks, routes, {"mail": mail, "hook": hook})
        await harness.assign()
        groups = [event(group=f"g{n}", event_id=f"e{n}") for n in range(20)]
        await harness.read(*groups)
        await until(lambda: len(hook.sent) == 20)
        assert len(mail.sent) == 1
        assert len(harness.queues["mail"]) == 20
        mail.let_go.set()
        await harness.idle()
        assert len(mail.sent) == 20

    life(scenario)


def test_bad_events_are_dead_lettered_and_foreign_ones_skipped() -> None:
    log, mail = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail})
        await harness.assign()
        foreign = b'{"type": "warren.group.owner.changed"}'
        assert await harness.read(b"{", None, foreign, ERR, offset=5) == 9
        await harness.idle()

    life(scenario)
    assert [(letter.offset, letter.key, letter.value) for letter in log.dead_letters()] == [
        (5, b"key", b"{"),
        (6, b"key", None),
    ]
    assert mail.ids == [OPENING]
