"""What was opened on a channel is closed on it, whatever happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from notifier.builders import event, route
from notifier.harness import Hanging, Harness, Log, Scripted, life
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import (
    GroupStatusName,
    StatusChangeEvent,
)
from warren_notifier.channels.channel import Channel, Result, Retry
from warren_notifier.routing.routes import Route

GROUPS = [f"g{number}" for number in range(20)]


def news(group: str, status: GroupStatusName, number: int, incident: int = 1) -> StatusChangeEvent:
    return event(
        status,
        group=group,
        event_id=f"{group}-{incident}-{number}",
        incident_id=f"{group}-{incident}",
    )


def sent(channel: Scripted, group: str) -> list[tuple[str, str]]:
    return [
        (delivery.pending.kind, delivery.pending.status)
        for delivery in channel.sent
        if delivery.subject.group == group
    ]


class Down(Scripted):
    """Takes everything unless it is down."""

    down = False

    async def send(self, delivery: object) -> Result:
        if self.down:
            await asyncio.sleep(0)
            return Retry("HTTP 503")
        return await super().send(delivery)  # type: ignore[arg-type]  # a Delivery


def test_a_flapping_group_on_a_receiver_that_is_down_is_closed_when_that_is_back() -> None:
    log, hook = Log(), Down()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route(channels=("hook",))], {"hook": hook}, stopped=True)
        await harness.assign()
        await harness.read(*(news(group, "WARN", 0) for group in GROUPS))
        await until(lambda: len(hook.sent) == 20)
        hook.down = True
        for number in range(1, 61):
            status: GroupStatusName = "ERR" if number % 2 else "WARN"
            flaps = [news(group, status, number) for group in GROUPS]
            await harness.read(*flaps, offset=20 * number)
        assert len(harness.pending()) <= 20
        await harness.read(*(news(group, "OK", 61) for group in GROUPS), offset=20 * 61)
        hook.down = False
        harness.start()
        await harness.idle()

    life(scenario)
    for group in GROUPS:
        assert sent(hook, group) == [("opened", "WARN"), ("resolved", "OK")]
    assert log.dead_letters() == []
    assert log.states() == []


def test_a_full_queue_delays_ends_and_loses_none() -> None:
    log, hook = Log(), Hanging(concurrency=2)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        hook.let_go.set()
        routes = [route(channels=("hook",))]
        harness = Harness(log, tasks, routes, {"hook": hook}, queue_size=3)
        await harness.assign()
        await harness.read(*(news(group, "ERR", 0) for group in GROUPS))
        await harness.idle()
        hook.let_go.clear()
        await harness.read(*(news(group, "OK", 1) for group in GROUPS), offset=20)
        await until(lambda: len(hook.sent) == 22)
        hook.let_go.set()
        await harness.idle()

    life(scenario)
    for group in GROUPS:
        assert sent(hook, group) == [("opened", "ERR"), ("resolved", "OK")]
    assert set(log.outcomes()) == {"delivered"}


def lives(
    channels: dict[str, Channel],
    before: Sequence[Route],
    after: Sequence[Route],
    later: dict[str, Channel] | None = None,
) -> Log:
    """An incident opens, the settings change with a restart, and the incident ends."""
    log = Log()

    async def first(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, before, channels)
        await harness.assign()
        await harness.read(news("g", "ERR", 0))
        await harness.idle()

    async def second(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, after, channels if later is None else later)
        await harness.assign()
        await harness.read(news("g", "OK", 1), offset=1)
        await harness.idle()

    life(first)
    life(second)
    return log


BOTH = [("opened", "ERR"), ("resolved", "OK")]


def test_a_renamed_route() -> None:
    hook = Scripted()
    lives({"hook": hook}, [route("old", ("hook",))], [route("new", ("hook",))])
    assert sent(hook, "g") == BOTH


def test_a_route_that_is_gone() -> None:
    hook = Scripted()
    lives({"hook": hook}, [route("old", ("hook",))], [])
    assert sent(hook, "g") == BOTH


def test_another_channel_in_the_route() -> None:
    hook, mail = Scripted(), Scripted()
    channels: dict[str, Channel] = {"hook": hook, "mail": mail}
    lives(channels, [route(channels=("hook",))], [route(channels=("mail",))])
    assert sent(hook, "g") == BOTH
    assert mail.sent == []


def test_another_name_for_the_channel() -> None:
    hook = Scripted()
    lives({"old": hook}, [route(channels=("old",))], [route(channels=("new",))], {"new": hook})
    assert sent(hook, "g") == BOTH


def test_another_receiver_under_the_name() -> None:
    """The old one has another name now; the new one was never told of the incident."""
    hook, other = Scripted(), mail_channel()
    after: dict[str, Channel] = {"hook": other, "old": hook}
    lives({"hook": hook}, [route(channels=("hook",))], [route(channels=("hook",))], after)
    assert sent(hook, "g") == BOTH
    assert other.sent == []


def mail_channel() -> Scripted:
    other = Scripted()
    other.identity = other.identity.model_copy(update={"kind": "email"})
    return other


@pytest.mark.parametrize("later", [{}, {"hook": mail_channel()}])
def test_a_channel_that_is_gone_is_said_once(later: dict[str, Channel]) -> None:
    hook = Scripted()
    log = lives({"hook": hook}, [route(channels=("hook",))], [], later)
    assert log.outcomes() == ["delivered", "given_up"]
    assert "no longer configured" in log.audit()[-1].detail
    (letter,) = log.dead_letters()
    assert "no longer configured" in letter.reason
    assert log.states() == []


def test_an_end_that_is_owed_is_tried_until_the_receiver_is_back() -> None:
    log, hook, clock = Log(), Down(), ManualClock(1000)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [route(channels=("hook",))]
        harness = Harness(log, tasks, routes, {"hook": hook}, clock=clock, deadline_ms=60_000)
        await harness.assign()
        await harness.read(news("g", "ERR", 0))
        await harness.idle()
        hook.down = True
        await harness.read(news("g", "OK", 1), news("g", "ERR", 0, 2), offset=1)
        await until(lambda: clock.now_ms() > 7 * 86_400_000)
        hook.down = False
        await harness.idle()

    life(scenario)
    assert sent(hook, "g") == [*BOTH, ("opened", "ERR")]
    assert log.dead_letters() == []
