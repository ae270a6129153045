"""A channel that several routes name is told by the first of them that is not muted."""

from __future__ import annotations

import asyncio
from typing import Any

from notifier.builders import MINUTE, OPENED_AT, change, event, route
from notifier.harness import Harness, Log, Scripted, life
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import OpenIncident, Told
from warren.silences import Silences
from warren_notifier.routing.decisions import Decision, Router
from warren_notifier.routing.repeats import on_repeat
from warren_notifier.routing.routes import Route
from warren_notifier.routing.start import on_start

HOUR = 60 * MINUTE


def muted(
    name: str, *channels: str, begin: str = "06:30", end: str = "08:00", **fields: Any
) -> Route:
    """OPENED_AT is at 07:00 UTC."""
    mute = [{"from": begin, "to": end, "zone": "UTC"}]
    return route(name, channels, mute=mute, continue_matching=True, **fields)


class Notifier:
    """Tells `mx` and `my` by routes, restarted at will."""

    def __init__(self, *routes: Route) -> None:
        self._routes = routes
        self.log = Log()
        self.clock = ManualClock(OPENED_AT)
        self.asked = Silences()
        self.channels = {"mx": Scripted(), "my": Scripted()}

    def harness(self, tasks: asyncio.TaskGroup, **fields: Any) -> Harness:
        known = {"clock": self.clock, "silences": self.asked}
        return Harness(self.log, tasks, self._routes, self.channels, **known, **fields)

    async def at(self, harness: Harness, minutes: float) -> None:
        """So long after the opening all that is due is done."""
        later = OPENED_AT + minutes * MINUTE - self.clock.now_ms()
        self.clock.advance(later / 1000)
        await harness.tick()
        await until(lambda: all(queues.idle for queues in harness.queues.values()))

    def told(self, channel: str = "mx") -> list[tuple[str, str]]:
        sent = self.channels[channel].sent
        return [(one.pending.route, one.pending.kind) for one in sent]


def test_one_that_is_muted_silences_no_other_one() -> None:
    notifier = Notifier(muted("mm1", "mx"), route("mm2", ("mx", "my")))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign()
        await harness.read(event("WARN"))
        await harness.idle()
        await notifier.at(harness, 59)
        await harness.read(event("ERR", "WARN", event_id="event-2"), offset=1)
        await notifier.at(harness, 60)
        await harness.read(event("WARN", "ERR", event_id="event-3"), offset=2)
        await harness.idle()
        await harness.read(event("OK", "WARN", event_id="event-4"), offset=3)
        await harness.idle()

    life(scenario)
    assert notifier.told("mx") == [
        ("mm2", "opened"),
        ("mm2", "changed"),
        ("mm1", "changed"),
        ("mm2", "resolved"),
    ]
    assert [kind for _, kind in notifier.told("my")] == ["opened", "changed", "changed", "resolved"]
    assert set(notifier.log.outcomes()) == {"delivered"}


def test_where_all_are_it_is_told_when_the_first_is_so_no_longer() -> None:
    notifier = Notifier(muted("mm1", "mx", end="10:00"), muted("mm2", "mx", "my"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign()
        await harness.read(event())
        await notifier.at(harness, 59)
        assert notifier.told() == []
        await notifier.at(harness, 60)

    life(scenario)
    assert notifier.told("mx") == notifier.told("my") == [("mm2", "opened")]
    assert notifier.log.outcomes("mx") == ["silenced", "delivered"]


def test_reminders_are_those_of_the_route_that_is_not_muted() -> None:
    notifier = Notifier(
        muted("mm1", "mx", repeat_interval=20 * 60), route("mm2", ("mx",), repeat_interval=30 * 60)
    )

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = notifier.harness(tasks)
        await harness.assign()
        await harness.read(event())
        await harness.idle()
        for minute in range(0, 100, 5):
            await notifier.at(harness, minute)

    life(scenario)
    kinds = [route_ for route_, kind in notifier.told() if kind == "repeated"]
    assert kinds == ["mm2", "mm1", "mm1"], "at 30, 60 and 80 minutes"
    assert len(set(notifier.channels["mx"].ids)) == 4


def test_a_start_opens_nothing_again_in_another_ones_window() -> None:
    router = Router([muted("mm1", "mx", begin="07:30"), route("mm2", ("mx",))], HOUR)
    incident, told = opened(router, OPENED_AT)
    decision = on_start(router, change(), incident, told, OPENED_AT + 40 * MINUTE)
    assert decision is None or not decision.news


def test_who_must_hear_of_it_again_does_whoever_tells_it() -> None:
    routes = [muted("mm1", "mx", begin="07:01", end="07:05"), route("mm2", ("mx",))]
    router = Router(routes, HOUR, resends={"mx": 120_000})
    incident, told = opened(router, OPENED_AT)
    seen = []
    for minute in range(1, 11):
        at = OPENED_AT + minute * MINUTE
        again = on_repeat(router, change(), incident, told, (), at, is_looked_after=True)
        if again is not None:
            assert again.incident is not None
            incident = again.incident
            seen += [(minute, one.route, one.repeat) for one in again.deliveries]
    assert seen == [(2, "mm2", 1), (4, "mm2", 2), (6, "mm1", 3), (8, "mm1", 4), (10, "mm1", 5)]


def opened(router: Router, at: int) -> tuple[OpenIncident, dict[str, Told]]:
    decision: Decision = router.on_change(change(), 0, None, {}, at)
    assert decision.incident is not None
    told = {
        one.told.channel: one.told.model_copy(update={"status": "ERR"}) for one in decision.news
    }
    return decision.incident, told
