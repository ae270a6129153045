import random
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import pytest
from warren_freshness.reading.record_reader import NARROW_MS, Bracket, LogTimes
from warren_wire.partition_requests import NOT_FOUND, FoundOffset

NOW = 1_795_244_400_000
HOUR = 3_600_000


class Log:
    """A broker's log: records' times by offset; None where there is no record."""

    def __init__(self, times: Sequence[int | None]) -> None:
        self.records = [(at, offset) for offset, at in enumerate(times) if at is not None]
        self.end = len(times)
        self.times = LogTimes()
        self.questions = 0

    def first_since(self, time: int) -> FoundOffset:
        latest = list(accumulate((at for at, _ in self.records), max))
        index = bisect_left(latest, time)
        return FoundOffset(*self.records[index]) if index < len(latest) else _NOTHING

    def search(self, offset: int, turns: int = 64) -> Bracket:
        for turn in range(turns):
            time = self.times.next_time(offset, self.end, NOW, turn)
            if time is None:
                break
            self.questions += 1
            self.times.take(time, self.first_since(time))
        found = self.times.bracket(offset, NOW)
        assert found is not None
        return found

    def true_time(self, offset: int) -> int:
        return next(at for at, place in self.records if place >= offset)


_NOTHING = FoundOffset(NOT_FOUND, NOT_FOUND)


@pytest.mark.parametrize("offset", [0, 1, 50, 98, 99])
def test_records_that_come_evenly_are_found_at_once(offset: int) -> None:
    log = Log([NOW - (100 - n) * HOUR for n in range(100)])
    assert log.search(offset) == Bracket(*[NOW - (100 - offset) * HOUR] * 2)
    assert log.questions <= 3


@pytest.mark.parametrize("seed", range(20))
def test_the_record_is_in_the_bracket_however_records_come(seed: int) -> None:
    chance = random.Random(seed)
    steps = [int(chance.expovariate(1) ** 4 * 1000) for _ in range(300)]
    times: list[int | None] = [NOW - 30 * 24 * HOUR + at for at in accumulate(steps)]
    for gap in chance.sample(range(299), 40):  # compaction took these
        times[gap] = None
    log = Log(times)
    for offset in sorted(chance.sample(range(300), 30)):
        found = log.search(offset)
        assert found.earliest <= log.true_time(offset) <= found.latest


def test_brackets_are_narrow_where_records_have_times_of_their_own() -> None:
    chance = random.Random(1)
    log = Log(sorted(NOW - chance.randrange(30 * 24 * HOUR) for _ in range(1000)))
    for offset in range(0, 1000, 37):
        found = log.search(offset)
        assert found.width <= max(NARROW_MS, (NOW - found.latest) / 50)
    assert log.questions < 15 * 28


def test_records_of_one_time_are_between_the_first_of_them_and_the_next_one() -> None:
    """A whole batch has one time where brokers set it."""
    log = Log([NOW - 3 * HOUR] * 10 + [NOW - HOUR] * 10)
    assert log.search(0) == Bracket(NOW - 3 * HOUR, NOW - 3 * HOUR)
    assert log.search(5) == Bracket(NOW - 3 * HOUR, NOW - HOUR)
    assert log.search(15) == Bracket(NOW - HOUR, NOW)


def test_what_was_answered_serves_later_positions() -> None:
    log = Log([NOW - (1000 - n) * 60_000 for n in range(1000)])
    log.search(500)
    before = log.questions
    log.times.forget_before(501)
    assert log.search(501).width <= 60_000
    assert log.questions - before <= 4


def test_nothing_that_is_forgotten_widens_a_bracket() -> None:
    log = Log([NOW - (1000 - n) * 60_000 for n in range(1000)])
    for offset in range(0, 1000, 7):
        found = log.search(offset)
        log.times.forget_before(offset)
        assert log.times.bracket(offset, NOW) == found
