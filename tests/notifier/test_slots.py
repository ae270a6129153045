"""How many attempts a channel makes at the same time, above all when none is answered."""

import asyncio

import pytest
from notifier.builders import event
from notifier.harness import Harness, Scripted, play, until
from support.manual_clock import ManualClock
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.delivery.slots import HUNG_ROUNDS, RateLimit, Slots
from warren_notifier.state.telling import Delivery

HUNG = Retry("no answer within 10s", uncertain=True, hung=True)
TAKEN = Delivered("taken")


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
    hook = Away()
    groups = [f"g{number}" for number in range(12)]

    async def is_away(harness: Harness) -> None:
        await harness.read(*(event(group=g, event_id=f"{g}-1", incident_id=g) for g in groups))
        await until(lambda: hook.together[:4] == [1, 2, 3, 4])
        await until(lambda: hook.together[-3:] == [1, 1, 1])
        assert max(hook.together) == 4
        away = len(hook.together)
        hook.back.set()
        await harness.idle()
        assert max(hook.together[away:]) == 4

    play({"hook": hook}, is_away)
    assert len(set(hook.taken)) == 12


def test_what_timed_out_may_have_arrived_so_its_end_is_told() -> None:
    hook = Away()

    async def ends(harness: Harness) -> None:
        await harness.read(event("ERR"))
        await until(lambda: harness.log.outcomes() == ["failed"])
        await harness.read(event("OK", "ERR", event_id="event-2"), offset=1)
        hook.back.set()
        harness.start()
        await harness.idle()

    play({"hook": hook}, ends, stopped=True)
    assert [delivery.pending.kind for delivery in hook.sent] == ["resolved"]


def at_once(*results: Result, concurrency: int = 2) -> int:
    """Attempts at the same time after attempts that came to these results, one after the other."""
    slots = Slots(concurrency)

    async def attempts() -> None:
        for result in results:
            async with slots.turn(lambda: True, tried=False):
                slots.note(result)

    asyncio.run(attempts())
    return slots.at_once


@pytest.mark.parametrize("answered", [Delivered(""), Refused("HTTP 400"), Retry("HTTP 503")])
def test_whatever_is_answered_ends_it(answered: Result) -> None:
    away = [HUNG] * 2 * HUNG_ROUNDS
    assert at_once(*away[1:]) == 2
    assert at_once(*away) == 1
    assert at_once(*away[1:], answered, HUNG) == 2
    assert at_once(*away, HUNG, answered) == 2
    assert at_once(*away * 4, concurrency=4) == at_once(*away, concurrency=1) == 1


class Turns:
    """Attempts that wait for one of a channel's slots, by name."""

    def __init__(self, concurrency: int) -> None:
        self.slots = Slots(concurrency)
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._results: dict[str, asyncio.Future[Result]] = {}

    async def ask(self, *names: str, tried: bool = False) -> None:
        for name in names:
            self._results[name] = asyncio.get_running_loop().create_future()
            self.tasks[name] = asyncio.create_task(self._attempt(name, tried))
        await settled()

    async def end(self, name: str, result: Result = TAKEN) -> None:
        self._results[name].set_result(result)
        await self.tasks[name]
        await settled()

    async def cancel(self, *names: str) -> None:
        for name in names:
            self.tasks[name].cancel()
        await asyncio.gather(*(self.tasks[name] for name in names), return_exceptions=True)
        await settled()

    async def _attempt(self, name: str, tried: bool) -> None:
        async with self.slots.turn(lambda: True, tried=tried):
            self.begun.append(name)
            self.slots.note(await self._results[name])


async def settled() -> None:
    """All that can go on has done so."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_whoever_comes_first_is_first_whether_tried_before_or_not() -> None:
    async def scenario() -> None:
        turns = Turns(1)
        await turns.ask("a")
        await turns.ask("again", tried=True)
        await turns.ask("new")
        await turns.ask("again too", tried=True)
        for name in ("a", "again", "new", "again too"):
            await turns.end(name)
        assert turns.begun == ["a", "again", "new", "again too"]

    asyncio.run(scenario())


def test_what_was_never_attempted_goes_first_while_the_receiver_is_away() -> None:
    async def scenario() -> None:
        turns = Turns(2)
        hanging = [f"h{number}" for number in range(2 * HUNG_ROUNDS + 1)]
        await turns.ask(*hanging)
        await turns.ask("again", "again too", "again later", tried=True)
        await turns.ask("new", "new too")
        for name in hanging:
            await turns.end(name, HUNG)
        assert turns.begun[len(hanging) :] == ["new"]
        await turns.end("new", HUNG)
        assert turns.begun[-1] == "new too"
        await turns.end("new too", Retry("HTTP 503"))  # it is back
        assert turns.begun[-2:] == ["again", "again too"]

    asyncio.run(scenario())


def test_groups_that_hang_are_not_the_receiver() -> None:
    """Twelve requests hang: twenty others wait for three rounds, not for twelve."""

    async def scenario() -> None:
        turns = Turns(4)
        hanging = [f"h{number}" for number in range(12)]
        await turns.ask(*hanging, *(f"n{number}" for number in range(20)))
        for ended, name in enumerate(hanging):
            assert len(turns.begun) == ended + 4
            await turns.end(name, HUNG)
        assert turns.begun[12:] == ["n0", "n1", "n2", "n3"]

    asyncio.run(scenario())


def test_whoever_goes_takes_no_slot_along() -> None:
    """While waiting, when the slot is theirs already, and amid an attempt."""

    async def scenario() -> None:
        turns = Turns(1)
        await turns.ask("a", "gone", "b")
        await turns.cancel("gone")
        await turns.end("a")
        assert turns.begun == ["a", "b"]
        turns = Turns(1)
        async with turns.slots.turn(lambda: True, tried=False):
            await turns.ask("gone", "gone too", "b")
        await turns.cancel("gone", "gone too")  # the first has not gone on yet
        assert turns.begun == ["b"]
        turns = Turns(2)
        await turns.ask("a", "b", "c", "d")
        await turns.cancel("a", "b")
        assert turns.begun == ["a", "b", "c", "d"]
        assert turns.slots.at_once == 2

    asyncio.run(scenario())


def test_a_channel_is_used_ten_times_at_once_and_then_so_often_a_minute() -> None:
    clock = ManualClock(0)

    async def times() -> list[float]:
        limit = RateLimit(30, clock, wait)
        assert not await limit.turn(lambda: False), "it counts for nothing"
        return [clock.monotonic() for _ in range(13) if await limit.turn()]

    async def wait(seconds: float) -> None:
        clock.advance(seconds)

    assert asyncio.run(times()) == [*[0.0] * 10, 2.0, 4.0, 6.0]
