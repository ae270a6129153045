"""Consumers that commit what they have processed: what they leave is what processing takes."""

from __future__ import annotations

import numpy as np
import pytest
from support.followed_partition import TICK, Followed

RATE = 100  # records per tick


def processes(partition: Followed, minutes: float, latency: float, seed: int) -> Followed:
    """Commits at each tick what came so many seconds before, now more and now less."""
    rng = np.random.default_rng(seed)
    load = 0.0
    for _ in range(round(minutes * 60 / TICK)):
        load = 0.9 * load + rng.normal(0, 0.13)
        left = int(RATE / TICK * latency * np.exp(load))
        partition.tick(RATE, read=max(partition.end + RATE - partition.committed - left, 0))
    return partition


@pytest.mark.parametrize("latency", [3, 15])
@pytest.mark.parametrize("seed", range(2))
def test_who_leaves_what_processing_takes_is_not_behind(latency: float, seed: int) -> None:
    partition = processes(Followed(), 45, latency, seed)
    learnt = len(partition.seen)
    processes(partition, 120, latency, seed + 10)
    assert set(partition.seen[learnt:]) == {"OK"}


def test_once_it_is_too_slow_it_is_told() -> None:
    partition = processes(Followed(), 60, 8, 1)
    began = len(partition.seen)
    for _ in range(120):
        partition.tick(RATE, read=RATE // 2)
    told = partition.seen[began:].index("WARN") * TICK
    assert told <= 120
    assert partition.seen[-1] == "WARN"


def test_who_reads_a_hundredth_too_little_is_told_once_it_is_far_behind() -> None:
    """So little that the averages of its lag hardly differ."""
    partition = Followed().healthy(60, rate=4)
    began = len(partition.seen)
    for tick in range(round(90 * 60 / TICK)):
        partition.tick(4 * TICK, read=4 * TICK - (tick % 5 == 0))
    told = partition.seen[began:].index("WARN") * TICK
    assert told <= 45 * 60
    assert set(partition.seen[began + told // TICK :]) == {"WARN"}
