"""What repeats: pauses of each day or week, jobs that rest, and crashes, which excuse nothing."""

from collections.abc import Sequence

import numpy as np
import pytest
from support.followed_partition import FOUND, START, Followed
from warren_core.evaluation import Sighting, Track, see
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.progress import judge
from warren_core.evaluation.rule import BY

MINUTE, HOUR, DAY = 60, 3600, 86_400
Life = Sequence[tuple[int, int]]
"""Seconds from which and until which nobody reads."""


def follow(lives: Sequence[Life], look: int, presence: Presence) -> tuple[list[list[bool]], Track]:
    """Whether each pause is told; while nobody reads, members are as `presence` says."""
    steps = max(life[-1][1] for life in lives) // look + 2
    dead = np.zeros((steps, len(lives)), np.bool_)
    for partition, life in enumerate(lives):
        for begin, end in life:
            dead[begin // look : end // look, partition] = True
    track, rows, bad = Track.empty(len(lives)), np.arange(len(lives)), np.zeros_like(dead)
    committed, committed_at = np.full(len(lives), 1_000_000), np.full(len(lives), START)
    there = Presence.UNKNOWN if presence is Presence.UNKNOWN else Presence.THERE
    for step in range(steps):
        now, end = START + step * look * 1000, np.full(len(lives), 1_000_000 + 10 * look * step)
        committed = np.where(dead[step], committed, end)
        committed_at = np.where(dead[step], committed_at, now)
        seen = np.where(dead[step], presence, there)
        commits = (~dead[step]).astype(np.int64)
        see(track, rows, Sighting(now, committed, committed_at, commits, end, presence=seen))
        bad[step] = judge(track, now) > 1
    told = [
        [bool(bad[begin // look : end // look + 1, p].any()) for begin, end in life]
        for p, life in enumerate(lives)
    ]
    return told, track


def every(period: int, length: int, times: int) -> Life:
    return [(period * turn, period * turn + length) for turn in range(1, times + 1)]


@pytest.mark.heavy
@pytest.mark.parametrize("presence", [Presence.UNKNOWN, Presence.THERE, Presence.NOBODY])
def test_a_crash_that_repeats_is_told_each_time(presence: Presence) -> None:
    """However regular: 20 min every 45 are a crash loop, and so is whatever is longer than a pause
    may be, or comes rarely, of who works for longer than a job does.
    """
    lives = [
        every((length + up) * MINUTE, length * MINUTE, 7)
        for length in (6, 8, 10, 20, 40)
        for up in (15, 25, 60)
        if length > BY.often // 60_000
    ]
    told, _ = follow(lives, 30, presence)
    assert all(all(life) for life in told), told


@pytest.mark.heavy
def test_a_pause_of_each_night_is_known_after_three_and_a_crash_beside_it_is_none() -> None:
    """Backups, ten minutes to and fro, and who works by day only; weekends are left out."""
    late = np.random.default_rng(1).uniform(0, 10 * MINUTE, 7)
    days = (0, 1, 2, 3, 6)
    begins = [int(day * DAY + 18 * HOUR + late[day]) for day in days]
    lives: list[Life] = [[(at, at + length) for at in begins] for length in (1200, 2 * HOUR)]
    lives.append([(at, at + 13 * HOUR) for at in begins])
    apart = [(hour * HOUR, hour * HOUR + 1200) for hour in (3, 27, 70, 99, 120)]
    lives += [apart, [*lives[0], (6 * DAY + 23 * HOUR, 6 * DAY + 23 * HOUR + 1200)]]
    crash = 3 * DAY + 10 * HOUR, 3 * DAY + 10 * HOUR + 1200
    lives.append(sorted([*lives[0], crash]))
    told, _ = follow(lives, 120, Presence.UNKNOWN)
    nightly = [True] * 3 + [False] * 2
    beside = [True] * 4 + [False] * 2
    assert told == [nightly, nightly, nightly, [True] * 5, [*nightly, True], beside]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("pause", "every", "told"), [(60, 120, 1), (120, 1200, 1), (300, 900, 1), (480, 1800, 2)]
)
def test_pauses_that_come_again_are_learnt(pause: int, every: int, told: int) -> None:
    """Stop-the-world, slow rebalances: up to five minutes at once, and ten where often."""
    partition = Followed().healthy(10)
    bad = []
    for _ in range(4):
        bad.append(partition.pause(pause / 60))
        partition.healthy((every - pause) / 60)
    assert bad == [True] * told + [False] * (4 - told)


@pytest.mark.heavy
@pytest.mark.parametrize(("minutes", "alarms"), [(5, 0), (14, 1), (20, 1), (40, 1)])
def test_a_job_whose_run_ends_with_nothing_left_is_known_after_one_run(
    minutes: int, alarms: int
) -> None:
    """It reads everything within a minute, then nothing."""
    partition, runs = Followed(), []
    for _ in range(3):
        began = len(partition.seen)
        partition.silent_for(minutes)
        for _ in range(12):
            partition.tick(50, read=50 * minutes)
        partition.tick(50, read=2**62)
        runs.append("STOP" in partition.seen[began:])
    assert runs == [True] * alarms + [False] * (3 - alarms)
    found = partition.silent(3 * minutes)
    assert found is not None
    assert minutes * 60 < found <= max(1.6 * minutes * 60, FOUND)
