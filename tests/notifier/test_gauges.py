"""Metrics of what is pending: right, and nobody waits for them."""

import asyncio

from notifier.builders import event
from notifier.harness import Hanging, Harness, play
from support.waiting import until
from warren.metrics.notifier import NOTIFIER
from warren_notifier.session import PART, Gauges

GROUPS = 3 * PART + 1


def gauge(name: str, channel: str | None = None) -> float | None:
    labels = {"channel": channel} if channel is not None else {}
    return NOTIFIER.get_sample_value(f"warren_notifier_{name}", labels)


def test_they_are_of_all_states_and_others_get_their_turns() -> None:
    hook, other, turns = Hanging(), Hanging(), 0
    other.let_go.set()

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def read(harness: Harness) -> None:
        events = [
            event(group=f"g{n}", event_id=f"e{n}", incident_id=f"i{n}") for n in range(GROUPS)
        ]
        await harness.read(*events)
        await until(lambda: {one.pending.channel for one in harness.pending()} == {"gauged"})
        harness.clock.advance(90)
        names = ["gauged", "taking", "idle"]
        gauges = Gauges(names, harness.outcomes)
        other_work = asyncio.create_task(count_turns())
        await gauges.show()
        other_work.cancel()

    play({"gauged": hook, "taking": other}, read)
    assert turns >= GROUPS // PART
    assert [gauge("pending", n) for n in ("gauged", "taking", "idle")] == [GROUPS, 0, 0]
    assert gauge("oldest_pending_seconds", "gauged") == 90
    assert gauge("oldest_pending_seconds", "idle") == 0
    assert (gauge("open_incidents"), gauge("states"), gauge("partitions")) == (GROUPS, GROUPS, 1)
