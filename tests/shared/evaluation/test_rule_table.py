"""The rules of `progress`, their parameters, and what docs/evaluation.md says of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.followed_partition import ALL, FOUND, START, Followed
from warren_core.evaluation import BY, Presence, Sighting, Track, meanings, see
from warren_core.evaluation.progress import RULES, judge
from warren_core.judgement import facts, verdict

PAGE = Path(__file__).parents[3] / "docs/evaluation.md"


def test_each_parameter_belongs_to_one_rule() -> None:
    """So that the page, which is made from the rules, has them all; there are few."""
    assert sorted([name for rule in RULES for name in rule.parameters]) == sorted(meanings())


def test_the_page_has_the_rules_and_all_are_on() -> None:
    page = PAGE.read_text()
    rows = [f"| {r.name} | {r.sentence} | {r.learns} | {r.speaks} |" for r in RULES]
    assert [row for row in rows if row not in page] == []
    assert all(rule.on for rule in RULES)


@pytest.mark.parametrize(
    "sentence",
    [
        f"are not said for {verdict.LONGEST_TURN_MS / 60_000:g} min",
        f"as the measurement is not older than {facts.MEASURED_LATELY_MS / 60_000:g} min",
    ],
)
def test_the_page_says_what_the_code_does(sentence: str) -> None:
    assert sentence in " ".join(PAGE.read_text().split())


def followed(minutes: float, presence: Presence = Presence.UNKNOWN) -> Followed:
    partition = Followed()
    partition.presence = presence
    return partition.healthy(minutes)


def reset() -> object:
    partition = followed(2)
    partition.committed -= 5000
    partition.tick(50, read=0)
    return partition.tick(50, read=60)


def slow() -> object:
    partition = followed(10)
    return [partition.tick(50, read=25) for _ in range(100)][-1]


def paused() -> object:
    partition = followed(10)
    partition.pause(1)
    return partition.healthy(2).pause(1)


def rested() -> object:
    partition = Followed()
    partition.silent_for(20)
    for _ in range(8):
        partition.tick(50, read=ALL)
    return partition.silent(20)


def away() -> object:
    partition = followed(31, Presence.THERE).healthy(120, every=300)
    partition.presence = Presence.NOBODY
    return partition.silent(5)


def rebalanced() -> object:
    partition = followed(12, Presence.THERE)
    partition.tick(50)
    partition.presence = Presence.REBALANCING
    return partition.silent(2)


def counted() -> object:
    partition = followed(1, Presence.THERE)
    for _ in range(20):
        partition.tick(200, read=200)
    partition.tick(120)
    return partition.silent(10, rate=0)


def daily() -> object:
    """Half an hour each day, looked at each two minutes."""
    partition = Followed()
    for look in range(4 * 720 + 16):
        rests = look >= 720 and look % 720 < 15
        told = partition.tick(1200, read=None if rests else ALL, seconds=120)
        if rests and look > 4 * 720 and told != "OK":
            return True
    return False


@pytest.mark.parametrize(
    ("name", "life", "said"),
    [
        ("silence", lambda: followed(10).silent(2), FOUND),
        ("rewind", reset, "REWIND"),
        ("behind", slow, "WARN"),
        ("habit", paused, False),
        ("first", lambda: Followed().silent(4), None),
        ("rests", rested, None),
        ("away", away, 115),
        ("held", rebalanced, None),
        ("by count", counted, None),
        ("returns", daily, False),
    ],
)
def test_without_the_rule_it_is_told_otherwise(
    name: str, life: Callable[[], object], said: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each switch takes one rule away, and nothing else does what it does."""
    told = life()
    assert told == said
    (rule,) = (rule for rule in RULES if rule.name == name)
    monkeypatch.setattr(rule, "on", False)
    assert life() != told


MINUTE, HOUR, DAY = 60, 3600, 86_400
Life = Sequence[tuple[int, int]]
"""Seconds from which and until which nobody reads."""


# What repeats: pauses of each day or week, jobs that rest, and crashes, which excuse nothing.


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
    assert minutes * 60 < (partition.silent(3 * minutes) or 0) <= max(1.6 * minutes * 60, FOUND)
