"""How many attempts a channel makes at the same time, above all when none is answered."""

from __future__ import annotations

import asyncio

import pytest
from notifier.builders import event, route
from notifier.harness import Harness, Log, Scripted, life, until
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.delivery.slots import Slots
from warren_notifier.state.delivery import Delivery

HUNG = Retry("no answer within 10 s", uncertain=True, hung=True)


class Away(Scripted):
    """A receiver that does not answer until it is `back`."""

    timeout = 0.05

    def __init__(self) -> None:
        super().__init__()
        self.back = asyncio.Event()
        self.under_way = 0
        self.together: list[int] = []
        """Of each attempt, how many were under way when it began, itself included."""

    async def send(self, delivery: Delivery) -> Result:
        self.under_way += 1
        self.together.append(self.under_way)
        try:
            await self.back.wait()
            for _ in range(20):  # answers take a while, too
                await asyncio.sleep(0)
            return await super().send(delivery)
        finally:
            self.under_way -= 1


def test_a_receiver_that_is_away_is_asked_one_at_a_time_until_it_answers() -> None:
    log, hook = Log(), Away()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route(channels=("hook",))], {"hook": hook})
        await harness.assign()
        groups = [f"g{number}" for number in range(12)]
        await harness.read(*(event(group=g, event_id=f"{g}-1", incident_id=g) for g in groups))
        await until(lambda: hook.together[:4] == [1, 2, 3, 4])
        await until(lambda: hook.together[-3:] == [1, 1, 1])
        assert max(hook.together) == 4
        away = len(hook.together)
        hook.back.set()
        await harness.idle()
        assert max(hook.together[away:]) == 4

    life(scenario)
    assert len(set(hook.taken)) == 12


def at_once(*results: Result, concurrency: int = 2) -> int:
    """Attempts at the same time after attempts that came to these results, one after the other."""
    slots = Slots(concurrency)

    async def attempts() -> None:
        for result in results:
            async with slots.turn(lambda: True):
                slots.note(result)

    asyncio.run(attempts())
    return slots.at_once


@pytest.mark.parametrize("answered", [Delivered(""), Refused("HTTP 400"), Retry("HTTP 503")])
def test_whatever_is_answered_ends_it(answered: Result) -> None:
    assert at_once(HUNG) == 2
    assert at_once(HUNG, HUNG) == 1
    assert at_once(HUNG, answered, HUNG) == 2
    assert at_once(HUNG, HUNG, HUNG, answered) == 2


def test_one_is_always_made() -> None:
    assert at_once(*[HUNG] * 20, concurrency=4) == 1
    assert at_once(*[HUNG] * 20, concurrency=1) == 1
