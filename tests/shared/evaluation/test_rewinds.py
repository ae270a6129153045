"""Who commits old offsets in turn with new ones, as a member that forgot what it has lost."""

import pytest
from support.followed_partition import TICK, Followed, always_ok
from warren_core.evaluation.rewinds import LATELY_MS

HELD = LATELY_MS // 1000


def _commit(partition: Followed, offset: int, *, rate: int) -> str:
    partition.now += TICK * 1000
    partition.end += rate * TICK
    partition.committed = min(offset, partition.end)
    partition.committed_at = partition.now
    return partition.observe(2)


def _to_and_fro(partition: Followed, old: int, looks: int, *, every: int, rate: int) -> list[str]:
    """At each `every`th look the old offset is the newest commit."""
    return [
        _commit(partition, old if look % every == 0 else partition.end + rate * TICK, rate=rate)
        for look in range(looks)
    ]


@pytest.mark.parametrize("every", [2, 3, 4])
@pytest.mark.parametrize("rate", [5, 50, 500])
def test_an_old_offset_again_and_again_is_told_at_its_second_time(every: int, rate: int) -> None:
    partition = Followed().healthy(5, rate=rate)
    old = partition.committed - 100 * rate
    seen = _to_and_fro(partition, old, 120, every=every, rate=rate)
    assert seen[: every + 1] == ["OK"] * every + ["REWIND"]
    assert set(seen[every:]) == {"REWIND"}
    partition.seen.clear()
    partition.healthy(HELD / 60 + 1, rate=rate)
    assert partition.seen[-1] == "OK"
    assert partition.seen.index("OK") * TICK <= HELD
    assert set(partition.seen[HELD // TICK :]) == {"OK"}


def test_one_late_commit_is_nothing() -> None:
    partition = Followed().healthy(5)
    for _ in range(3):
        _to_and_fro(partition, partition.committed - 1000, 2, every=2, rate=10)
        partition.healthy(HELD / 60)
    assert always_ok(partition)


def test_two_readers_at_the_same_pace_are_nothing() -> None:
    partition = Followed().healthy(5)
    for look in range(120):
        _commit(partition, partition.end + 50 - (20 if look % 2 else 0), rate=10)
    assert always_ok(partition)
