"""Receivers that know acknowledgements are told that somebody looks after an incident."""

from __future__ import annotations

import asyncio

from notifier.asked import acknowledgement, put
from notifier.builders import OPENED_AT, event, route
from notifier.harness import Harness, Log, Scripted, life
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import StatusChangeEvent
from warren.silences import Silences
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.telling import NOT_LOOKED_AFTER

ROUTES = [route(channels=("pager", "mail"))]


class Pager(Scripted):
    """A receiver that takes acknowledgements."""

    takes_acknowledgements = True

    def __init__(self, *results: Result) -> None:
        super().__init__(*results)
        self.told: list[tuple[str, str]] = []

    async def send(self, delivery: Delivery) -> Result:
        self.told.append((delivery.pending.kind, delivery.pending.status))
        return await super().send(delivery)

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.told]


class Desk:
    """A notifier with a pager and a mailbox; each life goes on from what the one before wrote."""

    def __init__(self, *results: Result) -> None:
        self.log, self.pager, self.mail = Log(), Pager(*results), Scripted()
        self.asked, self.clock = Silences(), ManualClock(OPENED_AT)

    def life(self, tasks: asyncio.TaskGroup, **more: object) -> Harness:
        channels = {"pager": self.pager, "mail": self.mail}
        kept = {"clock": self.clock, "silences": self.asked}
        return Harness(self.log, tasks, ROUTES, channels, **(kept | more))  # type: ignore[arg-type]

    def has_failed_once(self) -> bool:
        return [one.attempts for state in self.log.states() for one in state.deliveries] == [1]


def closing() -> StatusChangeEvent:
    return event("OK", "ERR", event_id="event-9")


async def tick(harness: Harness) -> None:
    await harness.tick()


async def quiet(harness: Harness) -> None:
    """Until all is told, and a further look finds nothing more to tell."""
    await until(lambda: not harness.pending())
    await tick(harness)
    await until(lambda: not harness.pending())


async def open_and_acknowledged(desk: Desk, harness: Harness) -> None:
    """The opening was told; a second has passed since somebody looks after the incident."""
    await harness.assign()
    await harness.read(event())
    await quiet(harness)
    put(desk.asked, acknowledgement())
    await tick(harness)


def test_it_is_told_once_and_only_to_who_knows_such_a_thing() -> None:
    desk = Desk()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = desk.life(tasks)
        await harness.assign()
        await harness.read(event())
        await quiet(harness)
        put(desk.asked, acknowledgement(why="restarting it", at=OPENED_AT + 5))
        await quiet(harness)
        await quiet(harness)
        put(desk.asked, acknowledgement(by="grace", at=OPENED_AT + 7))
        await quiet(harness)
        await harness.read(closing(), offset=1)
        await harness.idle()
        put(desk.asked, acknowledgement(at=OPENED_AT + 9))
        await quiet(harness)

    life(scenario)
    assert desk.pager.kinds == ["opened", "acknowledged", "acknowledged", "resolved"]
    assert [one.pending.kind for one in desk.mail.sent] == ["opened", "resolved"]
    first, second = (one.pending.acknowledged for one in desk.pager.sent[1:3])
    assert first is not None
    assert (first.by, first.why, first.at) == ("ada", "restarting it", OPENED_AT + 5)
    assert second is not None
    assert second.by == "grace"
    assert len(set(desk.pager.ids)) == 4
    assert [one.kind for one in desk.log.audit() if one.channel == "pager"] == desk.pager.kinds
    assert desk.log.states() == []


def test_who_does_not_take_it_is_not_asked_for_ever() -> None:
    desk = Desk(Delivered("taken"), Refused("unknown alert"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = desk.life(tasks)
        await harness.assign()
        await harness.read(event())
        await quiet(harness)
        put(desk.asked, acknowledgement())
        await quiet(harness)
        await quiet(harness)

    life(scenario)
    assert desk.pager.kinds == ["opened", "acknowledged"]


def test_news_go_first_and_it_is_told_after_them() -> None:
    desk = Desk(Delivered("taken"), Retry("no"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = desk.life(tasks, stopped=True)
        await harness.assign()
        await harness.read(event("WARN"))
        await quiet(harness)
        put(desk.asked, acknowledgement())
        await tick(harness)
        await until(desk.has_failed_once)
        await harness.read(event("ERR", "WARN", event_id="event-2"), offset=1)
        harness.start()
        await quiet(harness)

    life(scenario)
    assert desk.pager.told == [
        ("opened", "WARN"),
        ("acknowledged", "WARN"),
        ("changed", "ERR"),
        ("acknowledged", "ERR"),
    ]
    _, once, change, again = desk.pager.sent
    assert once.pending.delivery_id == again.pending.delivery_id
    assert change.pending.left_out == 0, "it is no change of the status"


def test_the_end_goes_first_and_nothing_after_it() -> None:
    desk = Desk(Delivered("taken"), Retry("no"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = desk.life(tasks, stopped=True)
        await open_and_acknowledged(desk, harness)
        await until(desk.has_failed_once)
        await harness.read(closing(), offset=1)
        harness.start()
        await quiet(harness)

    life(scenario)
    assert desk.pager.kinds == ["opened", "acknowledged", "resolved"]
    assert desk.log.outcomes("pager") == ["delivered", "failed", "superseded", "delivered"]


def test_it_is_withdrawn_when_nobody_looks_after_the_incident_any_more() -> None:
    desk = Desk(Delivered("taken"), Retry("no"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = desk.life(tasks, stopped=True)
        await open_and_acknowledged(desk, harness)
        await until(desk.has_failed_once)
        desk.asked.apply_acknowledgement(b"incident-1", None)
        await tick(harness)
        harness.start()
        await quiet(harness)

    life(scenario)
    assert desk.pager.kinds == ["opened", "acknowledged"]
    assert desk.log.audit()[-1].detail == NOT_LOOKED_AFTER
