"""Committed offsets that the log does not have."""

from __future__ import annotations

from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from freshness.measured_cluster import MeasuredCluster, columns
from freshness.timed_logs import TimedLogs, minutely
from warren.clock import ManualClock
from warren_freshness.positions.group_positions import GroupPositions

TICK = 5000


def looks(*seen: tuple[int, int]) -> list[bool]:
    """Whether it counts as beyond the end, after each look at (committed, log end)."""
    positions = GroupPositions()
    found = []
    for number, (committed, log_end) in enumerate(seen):
        event = offset_event({"orders": [At(committed, log_end)]}, observed_at=NOW + number * TICK)
        positions.fold(event, 0)
        ((state,),) = [group.topics["orders"] for group in positions.snapshots(CLUSTER, [0])]
        found.append(state.is_beyond_end)
    return found


def test_two_looks_in_a_row_are_needed() -> None:
    assert looks((50, 17), (50, 17), (50, 17)) == [False, True, True]
    assert looks((50, 50), (50, 40), (50, 50), (50, 40)) == [False] * 4


def test_a_look_that_does_not_know_the_log_end_changes_nothing() -> None:
    assert looks((50, 17), (50, -1), (50, 17), (50, -1)) == [False, False, True, True]
    assert looks((50, -1), (50, -1)) == [False, False]


def test_it_ends_with_another_commit_or_with_the_log_growing() -> None:
    assert looks((50, 17), (50, 17), (17, 17), (50, 17)) == [False, True, False, False]
    assert looks((50, 17), (50, 17), (50, 60)) == [False, True, False]


def test_nobody_knows_how_late_it_is(
    logs: TimedLogs, clock: ManualClock, cluster: MeasuredCluster
) -> None:
    topic = logs.topic(partitions=2)
    for partition in range(2):
        logs.produce(topic, minutely(clock, 17), partition)
    for _ in range(2):
        cluster.commit(topic, [17, 1_000_000])
        clock.advance(5)
    event = cluster.measure()[GROUP]
    found = columns(event)
    assert found.reason == ["caught_up", "beyond_end"]
    assert (found.freshness_ms, found.bound_ms) == ([0, None], [5000, None])
    assert found.lost_records == [0, 0]
