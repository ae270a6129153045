"""."""

from collections.abc import Callable

import numpy as np
import pytest
from freshness.events import CLUSTER, GROUP, NOW, At, offset_event
from warren_freshness.log_position import UNKNOWN, LogPosition
from warren_freshness.positions.group_positions import GroupPositions
from warren_freshness.positions.topic_columns import Pace, PartitionState, lost_records

HOME = 3


def states(positions: GroupPositions, group: str = GROUP) -> dict[tuple[str, int], PartitionState]:
    (snapshot,) = [g for g in positions.snapshots(CLUSTER, [HOME]) if g.group == group]
    return {(s.committed.topic, s.committed.partition): s for s in snapshot.states}


def test_events_that_are_not_newer_are_duplicates() -> None:
    positions = GroupPositions()
    assert positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)
    assert not positions.fold(offset_event({"orders": [At(1, 9)]}), HOME)
    older = offset_event({"orders": [At(1, 9)]}, position=9, observed_at=NOW + 5)
    assert not positions.fold(older, HOME)
    assert states(positions)["orders", 0].committed.offset == 5
    assert positions.fold(offset_event({"orders": [At(6, 9)]}, observed_at=NOW + 1), HOME)
    assert positions.fold(offset_event({"orders": [At(7, 9)]}, position=11), HOME)


def test_events_without_a_position_are_compared_by_time() -> None:
    positions = GroupPositions()
    for at, position, is_newer in ((0, 10, True), (1, -1, True), (1, -1, False), (2, 4, True)):
        event = offset_event({"orders": [At(5, 9)]}, position=position, observed_at=NOW + at)
        assert positions.fold(event, HOME) == is_newer


def test_events_of_a_large_group_bring_other_topics_and_partitions() -> None:
    positions = GroupPositions()
    first = {"orders": [At(5, 9, partition=4), At(6, 9, partition=1)]}
    positions.fold(offset_event(first), HOME)
    second = {"orders": [At(7, 9, partition=2)], "bills": [At(1, 2)]}
    positions.fold(offset_event(second, observed_at=NOW + 1), HOME)
    found = {place: state.committed.offset for place, state in states(positions).items()}
    assert found == {("orders", 1): 6, ("orders", 2): 7, ("orders", 4): 5, ("bills", 0): 1}
    assert list(found)[:3] == [("orders", 1), ("orders", 2), ("orders", 4)]


def test_since_when_records_came_that_nobody_ever_committed() -> None:
    positions = GroupPositions()

    def since(at: int, end: int, committed: int = -1) -> int:
        event = offset_event({"orders": [At(committed, end)]}, observed_at=NOW + at)
        assert positions.fold(event, HOME)
        return states(positions)["orders", 0].lagging_since

    assert [since(0, 4), since(10, 4), since(20, UNKNOWN), since(30, 4)] == [UNKNOWN] * 4
    assert [since(40, 5), since(50, UNKNOWN), since(60, 9)] == [NOW + 40] * 3
    assert since(70, 2) == UNKNOWN, "the topic was made anew"
    assert [since(80, 2), since(90, 3)] == [UNKNOWN, NOW + 90]
    assert since(100, 3, committed=3) == UNKNOWN
    assert [since(110, 3), since(120, 8)] == [UNKNOWN, NOW + 120]


def test_since_when_a_partition_lags() -> None:
    positions = GroupPositions()

    def after(seconds: int, committed: int, log_end: int) -> int | None:
        at = NOW + seconds * 1000
        positions.fold(offset_event({"orders": [At(committed, log_end)]}, observed_at=at), HOME)
        return states(positions)["orders", 0].known_since

    assert after(0, committed=5, log_end=5) is None
    assert after(1, committed=5, log_end=7) == NOW + 1000
    assert after(2, committed=5, log_end=9) == NOW + 1000
    assert after(3, committed=6, log_end=9) == NOW + 3000
    assert after(4, committed=9, log_end=9) is None


def test_log_ends_that_another_group_saw_later() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, 5)]}), HOME)
    positions.fold(
        offset_event({"orders": [At(8, 9, 2)]}, group="other", observed_at=NOW + 9), HOME
    )
    state = states(positions)["orders", 0]
    assert (state.log_start, state.log_end, state.log_observed_at) == (2, 9, NOW + 9)
    assert state.to_read == LogPosition("orders", 0, 5)
    assert state.known_since == NOW + 9


def test_log_ends_that_another_group_saw_earlier_change_nothing() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)
    positions.fold(offset_event({"orders": [At(1, 7)]}, group="other", observed_at=NOW - 9), HOME)
    assert states(positions)["orders", 0].log_end == 9


def test_an_unknown_log_end_leaves_the_known_one() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)
    positions.fold(offset_event({"orders": [At(5, -1, -1)]}, observed_at=NOW + 1), HOME)
    state = states(positions)["orders", 0]
    assert (state.log_end, state.log_observed_at) == (9, NOW)


def test_a_position_whose_log_end_was_never_known_is_read() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, -1, -1)]}), HOME)
    state = states(positions)["orders", 0]
    assert state.to_read == LogPosition("orders", 0, 5)
    assert state.known_since is None


def test_removed_partitions_and_topics() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, 9), At(6, 9)], "bills": [At(1, 2)]}), HOME)
    gone = {"orders": [0], "bills": [0], "unheard of": [1]}
    positions.fold(offset_event({}, removed=gone, observed_at=NOW + 1), HOME)
    assert states(positions).keys() == {("orders", 1)}


def test_a_deleted_group_is_to_be_published_once() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)
    assert positions.fold(offset_event({}, deleted=True, observed_at=NOW + 1), HOME)
    assert positions.snapshots(CLUSTER, [HOME]) == []
    assert positions.deleted(CLUSTER) == [(CLUSTER, GROUP)]
    assert positions.deleted("other") == []
    positions.deletions_published([(CLUSTER, GROUP)])
    assert positions.deleted(CLUSTER) == []


def test_a_group_that_came_back_has_no_tombstone() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({}, deleted=True), HOME)
    positions.fold(offset_event({"orders": [At(5, 9)]}, observed_at=NOW + 1), HOME)
    assert positions.deleted(CLUSTER) == []


def test_partitions_that_go_to_another_instance_are_forgotten() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)
    positions.fold(offset_event({"bills": [At(5, 9)]}, group="other"), 4)
    positions.fold(offset_event({}, group="gone", deleted=True), HOME)
    positions.release([HOME])
    (left,) = positions.snapshots(CLUSTER, [HOME, 4])
    assert left.group == "other"
    assert positions.deleted(CLUSTER) == []
    # Nothing stays in the way of events that are read again.
    assert positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)


def test_only_wanted_home_partitions_and_clusters() -> None:
    positions = GroupPositions()
    positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)
    assert positions.snapshots(CLUSTER, []) == []
    assert positions.snapshots("other", [HOME]) == []


def test_a_request_to_forget_observes_nothing() -> None:
    positions = GroupPositions()
    requested = offset_event({}, observed_at=NOW + 5000, position=-1).model_copy(
        update={"forget": []}
    )
    assert not positions.fold(requested, HOME)
    assert (CLUSTER, GROUP) not in positions
    assert positions.fold(offset_event({"orders": [At(5, 9)]}), HOME)
    assert not positions.fold(requested, HOME)
    assert positions.fold(offset_event({"orders": [At(6, 9)]}, observed_at=NOW + 1), HOME)


def test_lost_records() -> None:
    assert lost_records(29, 34) == 5
    assert lost_records(34, 34) == 0
    assert lost_records(34, -1) == 0
    assert lost_records(-1, 34) == 0


def test_how_fast_logs_grow_and_the_group_consumes() -> None:
    positions = GroupPositions()
    for second, committed, end in ((0, 10, 100), (10, 60, 120), (20, 110, 140)):
        event = offset_event(
            {"orders": [At(committed, end), At(-1, 5)]}, observed_at=NOW + second * 1000
        )
        positions.fold(event, HOME)
    behind, unread = states(positions).values()
    assert (behind.produce_rate, behind.consume_rate, behind.catch_up_ms) == (2.0, 5.0, 10_000)
    assert (unread.produce_rate, unread.consume_rate, unread.catch_up_ms) == (0.0, None, None)
    # Another group's events tell of the same logs.
    other = offset_event({"orders": [At(0, 340)]}, group="other", observed_at=NOW + 120_000)
    positions.fold(other, HOME)
    rates = [states(positions, group)["orders", 0].produce_rate for group in (GROUP, "other")]
    assert rates == [2.0, 2.0]


NOBODY = pytest.approx(float("nan"), nan_ok=True)


def paced(*observations: tuple[float, list[int]]) -> Pace:
    """(second, offset of partition 0, 1, …)."""
    pace = Pace()
    for second, offsets in observations:
        pace.update(np.arange(len(offsets)), np.array(offsets), 1000 + round(second * 1000))
    return pace


def rates(pace: Pace, partitions: int = 1) -> list[float]:
    found: list[float] = pace.rates(np.arange(partitions)).tolist()
    return found


def test_two_observations_make_a_rate() -> None:
    assert rates(paced()) == [NOBODY]
    assert rates(paced((0, [10, 5])), 3) == [NOBODY] * 3
    assert rates(paced((0, [10, 5]), (10, [60, 5])), 3) == [5.0, 0.0, NOBODY]


def every(
    step: float, end: float, offset: Callable[[float], float]
) -> list[tuple[float, list[int]]]:
    return [(second, [round(offset(second))]) for second in np.arange(0, end, step).tolist()]


@pytest.mark.parametrize(
    ("observations", "rate"),
    [
        *(
            pytest.param(
                every(step, 50 * step, lambda second: 20 * second),
                pytest.approx(20, rel=0.02),
                id=f"steady, seen every {step} s",
            )
            for step in (0.3, 1, 5, 9, 10, 30, 200)
        ),
        pytest.param(
            every(5, 300, lambda second: second // 15 * 150),
            pytest.approx(10, rel=0.3),
            id="commits in lumps",
        ),
        pytest.param(
            every(5, 140, lambda second: 20 * second + (10**6 if second >= 100 else 0)),
            pytest.approx(20, rel=0.2),
            id="a leap is no rate",
        ),
        pytest.param(
            every(5, 170, lambda second: min(second, 100) * 10), 0.0, id="stopped a minute ago"
        ),
        pytest.param(
            [(0, [0]), (10, [100]), (20, [UNKNOWN]), (5, [10_000])],
            10.0,
            id="what is unknown or older says nothing",
        ),
    ],
)
def test_rate(observations: list[tuple[float, list[int]]], rate: object) -> None:
    assert rates(paced(*observations)) == [rate]


def test_going_back_begins_anew() -> None:
    pace = paced((0, [500]), (10, [600]), (20, [0]))
    assert rates(pace) == [NOBODY]
    pace.update(np.array([0]), np.array([70]), 31_000)
    assert rates(pace) == [7.0]
