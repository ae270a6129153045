"""Long pauses that come like clockwork, and crashes that come at any time."""

from __future__ import annotations

import numpy as np
import pytest
from support.followed_partition import ALL, FOUND, START, Followed
from warren_core.evaluation import Sighting, Track, see
from warren_core.evaluation.clockwork import clock_ms
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.progress import judge
from warren_core.evaluation.track import Mark
from warren_core.evaluation.usual import longest_wait

SECOND, HOUR, DAY = 1000, 3600, 86_400
LOOK = 20  # seconds


def paused(partition: Followed, minutes: float, *, every: float) -> bool:
    """Whether a pause was told that ends a cycle of `every` minutes."""
    return partition.healthy(every - minutes).pause(minutes)


def clockwork(presence: Presence = Presence.UNKNOWN) -> Followed:
    """Ten minutes every forty: known."""
    partition = Followed()
    partition.presence = presence
    partition.healthy(10)
    told = [paused(partition, 10, every=40) for _ in range(5)]
    assert told == [True, True, True, False, False]
    return partition


def test_crashes_at_random_times_are_told() -> None:
    """Of 20 min, half an hour to five hours apart: by chance some are as regular as a clock."""
    partitions, steps = 24, 60 * HOUR // LOOK
    dead = np.zeros((steps, partitions), np.bool_)
    crashes: list[tuple[int, int, int]] = []
    for p in range(partitions):
        rng = np.random.default_rng(p)
        at = HOUR // LOOK
        while at + 1200 // LOOK < steps:
            crashes.append((p, at, at + 1200 // LOOK))
            dead[at : crashes[-1][2], p] = True
            at = crashes[-1][2] + int(rng.uniform(0.5, 5) * HOUR / LOOK)
    bad = _follow(dead)
    told = [bool(bad[begin : end + 1, p].any()) for p, begin, end in crashes]
    assert len(told) > 350
    assert sum(told) / len(told) > 0.9
    assert not bad[: HOUR // LOOK].any()


def test_a_pause_of_each_night_is_known_after_three() -> None:
    """Backups of 20 min and two hours, and who works by day only, ten minutes to and fro."""
    late = np.random.default_rng(1).uniform(0, HOUR / 6, 7)
    begins = [int(day * DAY + 18 * HOUR + late[day]) for day in range(7)]
    lives = [[(begin, begin + length) for begin in begins] for length in (1200, 7200, 13 * HOUR)]
    assert told_of_days(lives) == [[True] * 3 + [False] * 4] * 3


def test_crashes_are_told_days_apart_and_beside_what_comes_each_night() -> None:
    apart = [(hour * HOUR, hour * HOUR + 1200) for hour in (3, 27, 70, 99, 130)]
    nights = [(day * DAY + 7200, day * DAY + 8400) for day in range(5)]
    told = told_of_days([apart, [*nights, (4 * DAY + 12 * HOUR, 4 * DAY + 12 * HOUR + 1200)]])
    assert told == [[True] * 5, [True, True, True, False, False, True]]


def told_of_days(lives: list[list[tuple[int, int]]]) -> list[list[bool]]:
    """Whether each pause, from second to second, is told."""
    look = 120
    dead = np.zeros((max(life[-1][1] for life in lives) // look + 30, len(lives)), np.bool_)
    for partition, life in enumerate(lives):
        for begin, end in life:
            dead[begin // look : end // look, partition] = True
    bad = _follow(dead, look)
    return [
        [bool(bad[begin // look : end // look + 1, p].any()) for begin, end in life]
        for p, life in enumerate(lives)
    ]


def _follow(dead: np.ndarray, look: int = LOOK) -> np.ndarray:
    """[look, partition] whether it is not OK: ten records a second, all of them read."""
    steps, partitions = dead.shape
    track, rows, bad = Track.empty(partitions), np.arange(partitions), np.zeros_like(dead)
    committed, committed_at = np.full(partitions, 1_000_000), np.full(partitions, START)
    for step in range(steps):
        now, written = START + step * look * SECOND, 10 * look * step
        log_end = np.full(partitions, 1_000_000 + written)
        committed = np.where(dead[step], committed, log_end)
        committed_at = np.where(dead[step], committed_at, now)
        see(track, rows, Sighting(now, committed, committed_at, 1 - dead[step], log_end))
        bad[step] = judge(track, now, 0) > 1
    return bad


def test_a_crash_between_two_pauses_is_told_and_does_not_set_the_clock() -> None:
    partition = clockwork()
    partition.healthy(8)
    assert partition.silent(8) == FOUND
    partition.silent_for(7)
    partition.tick(read=ALL)
    partition.healthy(14)
    assert partition.silent(10) is None  # it is due
    partition.tick(read=ALL)
    assert not paused(partition, 10, every=40)


def test_a_pause_that_was_due_and_does_not_end_is_told() -> None:
    partition = clockwork().healthy(30)
    found = partition.silent(60)
    assert found is not None
    assert 10 * 60 < found <= 10 * 60 * 4 / 3 + 90


def test_two_pauses_that_were_left_out_are_forgiven_and_three_are_not() -> None:
    partition = clockwork().healthy(40)
    assert not paused(partition, 10, every=40)
    partition.healthy(80)
    assert not paused(partition, 10, every=40)
    partition.healthy(145)
    assert not clock_ms(partition.track.figures).any()
    assert [paused(partition, 10, every=40) for _ in range(4)] == [True, True, True, False]


def test_pauses_that_begin_by_the_clock_and_end_now_early_and_now_late_keep_it() -> None:
    """By five minutes of 25: from end to end they are not regular."""
    partition = Followed().healthy(10)
    told = []
    for minutes in [11, 11, 11, *[14, 9] * 4]:
        told.append(partition.pause(minutes))
        partition.healthy(25 - minutes)
    assert told == [True] * 3 + [False] * 8


def test_jobs_that_start_by_the_clock_and_take_now_long_and_now_short_are_learnt() -> None:
    """Each hour, for 10 to 30 min: where they end, and a wait begins, is not regular."""
    partition = Followed().healthy(10)
    told = []
    for minutes in (12, 30, 25, 10, 28, 15, 30, 11, 22, 29, 10, 30):
        began = len(partition.seen)
        partition.silent_for(60 - minutes)
        told.append("STOP" in partition.seen[began:])
        partition.healthy(minutes)
    assert not any(told[4:]), told


def test_crashes_that_end_by_the_clock_and_begin_at_any_time_are_told() -> None:
    """As who is started again by hand at each full hour."""
    partition = Followed().healthy(10)
    told = []
    for minutes in [20, 20, 20, 20, *[35, 8] * 3]:
        told.append(paused(partition, minutes, every=60))
    assert told == [True, True, True, False, *[True] * 6]


@pytest.mark.parametrize("off", [2, -2])
def test_pauses_need_not_be_quite_regular(off: int) -> None:
    """Now early and now late by two minutes of forty."""
    partition = clockwork()
    assert not any(paused(partition, 10, every=40 + off * (-1) ** i) for i in range(6))


def test_crashes_at_regular_times_that_take_now_long_now_short_are_told() -> None:
    partition = Followed().healthy(10)
    assert [paused(partition, minutes, every=40) for minutes in [10, 16] * 4] == [True] * 8


def test_what_comes_by_the_clock_is_no_pause_that_may_come_at_any_time() -> None:
    partition = clockwork()
    assert int(clock_ms(partition.track.figures)[0]) == pytest.approx(10 * 60_000, abs=5_000)
    assert int(longest_wait(partition.track.marks)[0]) <= 10_000


def test_a_clock_that_an_earlier_version_has_learnt_is_kept() -> None:
    """It noted where the last pause ended."""
    partition = clockwork()
    ended = partition.track.marks[: Mark.REPEATING].copy()
    ended[Mark.ODD_AT] += 10 * 60_000
    kept = Track.kept(ended, partition.track.figures)
    assert kept is not None
    partition.track = kept
    assert not any(paused(partition, 10, every=40) for _ in range(2))


def test_a_clock_of_members_that_are_there_excuses_nobody_who_has_gone() -> None:
    partition = clockwork(Presence.THERE).healthy(30)
    partition.presence = Presence.NOBODY
    assert partition.silent(20) == FOUND


def test_a_clock_of_members_that_go_excuses_nobody_who_hangs() -> None:
    partition = Followed()
    partition.presence = Presence.THERE
    partition.healthy(10)
    told = []
    for _ in range(5):
        partition.healthy(30)
        began = len(partition.seen)
        partition.presence = Presence.NOBODY
        partition.silent_for(10)
        told.append("STOP" in partition.seen[began:])
        partition.presence = Presence.THERE
        partition.tick(read=ALL)
    assert told == [True, True, True, False, False]
    partition.healthy(30)
    assert partition.silent(20) == pytest.approx(105, abs=5)  # it may have gone since
