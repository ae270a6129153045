"""Who commits what a batch, or a checkpoint, has read: rarely, and all of it."""

from __future__ import annotations

import pytest
from support.followed_partition import ALL, TICK, Followed, always_ok

PACE_MS = 15_000


@pytest.mark.parametrize("every", [180, 300, 600])
def test_a_checkpoint_that_fails_now_and_then_is_no_trouble(every: int) -> None:
    """Each tenth one is left out."""
    partition, told = Followed().healthy(10, every=every), []
    for _ in range(8):
        partition.healthy(9 * every / 60, every=every)
        began = len(partition.seen)
        partition.silent_for(every / 60)
        partition.healthy(every / 60, every=every)
        told.append("STOP" in partition.seen[began:])
    assert not any(told[2:]), told


def test_a_batch_that_was_committed_while_nobody_looked_leaves_no_growing_lag() -> None:
    """It commits what it has worked on for two minutes. Nobody saw when, so that the lag has grown
    since, more than a commit ever left."""
    partition = Followed()
    partition.pace_ms = PACE_MS
    held = partition.committed
    for second in range(0, 4 * 3600, TICK):
        if second % 120 == 0:
            read, held = held - partition.committed, partition.end
        blind = second % 3600 in range(1900, 2030)
        if blind:
            partition.now += TICK * 1000
            partition.end += 100
            if second % 120 == 0:
                partition.committed += read
                partition.committed_at = partition.now
        else:
            partition.tick(100, read=read if second % 120 == 0 else None)
    assert always_ok(partition)


def test_who_hangs_among_checkpoints_that_failed_is_found() -> None:
    partition = Followed().healthy(60, every=180)
    for _ in range(6):
        partition.silent_for(3)
        partition.tick(0, read=ALL)
        partition.healthy(27, every=180)
    found = partition.silent(30)
    assert found is not None
    assert found <= 10 * 60
