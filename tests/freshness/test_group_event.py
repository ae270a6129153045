"""."""

import pytest
from freshness.events import CLUSTER, GROUP, NOW
from warren.contracts import FreshnessEvent, TopicFreshness, WorstFreshness
from warren_freshness.figures import arithmetic
from warren_freshness.figures.arithmetic import EARLIEST_APPEND, LARGEST_SKEW, Age
from warren_freshness.figures.held_up import (
    ASK_AFTER_MS,
    HANGING_MS,
    MOST_TOLD,
    begins_to_ask,
    held_up,
    open_transactions,
)
from warren_freshness.figures.partition_figures import Row
from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.passes.cluster_measurer import group_event
from warren_freshness.positions.group_positions import GroupSnapshot
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.topics.open_transactions import TransactionOwner

SNAPSHOT = GroupSnapshot(CLUSTER, GROUP, NOW - 5, {})


def test_a_bound_of_what_was_never_committed_is_one_of_the_group() -> None:
    rows = {"orders": [Row(0, 5, 70, "exact", 0), Row(1, -1, None, "no_commit", 900)]}
    event = group_event(SNAPSHOT, rows, NOW)
    assert (event.freshness_ms, event.at_least_ms, event.time_to_catch_up_ms) == (70, 900, None)
    assert event.worst == WorstFreshness(
        topic="orders", partition=1, freshness_ms=900, at_least=True
    )


def test_sums_and_extremes_over_all_partitions() -> None:
    rows = {
        "orders": [
            Row(0, 5, 70, "exact", 0, time_to_loss_ms=900),
            Row(1, 9, 0, "caught_up", 10),
            Row(4, -1, None, "no_commit", None),
        ],
        "bills": [Row(0, 2, None, "expired", 80, 3, 400), Row(1, 2, None, "timeout", 9, 2)],
    }
    event = group_event(SNAPSHOT, rows, NOW)
    assert event.model_copy(update={"topics": {}}) == FreshnessEvent(
        cluster=CLUSTER,
        group=GROUP,
        measured_at=NOW,
        observed_at=NOW - 5,
        freshness_ms=70,
        at_least_ms=80,
        lost_records=5,
        time_to_loss_ms=400,
        worst=WorstFreshness(topic="bills", partition=0, freshness_ms=80, at_least=True),
    )
    assert event.topics["orders"] == TopicFreshness(
        partition=[0, 1, 4],
        committed=[5, 9, -1],
        freshness_ms=[70, 0, None],
        reason=["exact", "caught_up", "no_commit"],
        bound_ms=[0, 10, None],
        lost_records=[0, 0, 0],
        time_to_loss_ms=[900, None, None],
        oldest_at=[None, None, None],
        commit_lag_ms=[None, None, None],
        append_lag_ms=[None, None, None],
    )


def test_a_lower_bound_does_not_hide_what_is_known_to_be_later() -> None:
    rows = {"orders": [Row(0, 5, 70, "exact", 0), Row(1, 5, None, "expired", 60, 2)]}
    event = group_event(SNAPSHOT, rows, NOW)
    assert (event.freshness_ms, event.at_least_ms) == (70, 70)
    assert event.worst == WorstFreshness(topic="orders", partition=0, freshness_ms=70)


def test_a_group_without_partitions() -> None:
    event = group_event(SNAPSHOT, {}, NOW)
    assert (event.freshness_ms, event.lost_records, event.topics) == (None, 0, {})


def test_a_group_has_caught_up_when_its_slowest_partition_has() -> None:
    rows = [
        Row(0, 5, 70, "exact", 0, produce_rate=1.5, consume_rate=2.5, time_to_catch_up_ms=900),
        Row(1, 9, 0, "caught_up", 0, produce_rate=1.0, consume_rate=1.0, time_to_catch_up_ms=0),
        Row(2, -1, None, "no_commit", None, produce_rate=0.25),
    ]
    event = group_event(SNAPSHOT, {"orders": rows}, NOW)
    assert (event.produce_rate, event.consume_rate) == (2.75, 3.5)
    assert event.time_to_catch_up_ms == 900
    assert event.topics["orders"].time_to_catch_up_ms == [900, 0, None]
    rows.append(Row(3, 5, 70, "exact", 0, produce_rate=2.0, consume_rate=1.0))
    assert group_event(SNAPSHOT, {"orders": rows}, NOW).time_to_catch_up_ms is None


def test_why_the_time_until_loss_is_what_it_is() -> None:
    near = Row(0, 5, 70, "exact", 0, time_to_loss_ms=90, time_to_loss_reason="retention_bytes")
    far = Row(1, 5, 70, "exact", 0, time_to_loss_ms=900, time_to_loss_reason="retention_ms")
    dark = Row(2, 5, 70, "exact", 0, time_to_loss_reason="size_unknown")
    for rows, reason in (
        ([far, near], "retention_bytes"),
        ([far], "retention_ms"),
        ([near, far, dark], "size_unknown"),
        ([Row(0, 9, 0, "caught_up", 0)], None),
    ):
        assert group_event(SNAPSHOT, {"orders": rows}, NOW).time_to_loss_reason == reason


@pytest.mark.parametrize(
    ("timestamp", "usable"),
    [
        (NOW, True),
        (NOW + LARGEST_SKEW, True),
        (NOW + LARGEST_SKEW + 1, False),
        (NOW * 1000, False),  # microseconds
        (EARLIEST_APPEND, True),
        (EARLIEST_APPEND - 1, False),
        (NOW // 1000, False),  # seconds
        (0, False),
        (-1, False),
    ],
)
def test_which_timestamps_can_be_append_times(timestamp: int, usable: bool) -> None:
    assert arithmetic.is_append_time(timestamp, NOW) is usable
    assert arithmetic.usable(timestamp, NOW) == (timestamp if usable else None)


def test_age() -> None:
    assert arithmetic.age_of(NOW - 7, NOW) == Age(7, 0)
    assert arithmetic.age_of(NOW, NOW) == Age(0, 0)
    assert arithmetic.age_of(NOW + 300, NOW) == Age(0, 300)


def test_lower_bound() -> None:
    assert arithmetic.at_least(NOW - 7, NOW) == 7
    assert arithmetic.at_least(NOW + 7, NOW) == 0
    assert arithmetic.at_least(None, NOW) is None


def test_commit_lag() -> None:
    assert arithmetic.commit_lag(NOW, NOW - 40) == 40
    assert arithmetic.commit_lag(NOW, NOW + 40) == 0
    assert arithmetic.commit_lag(-1, NOW) is None
    assert arithmetic.commit_lag(NOW, None) is None


def test_append_lag() -> None:
    assert arithmetic.append_lag(NOW, NOW - 40) == 40
    assert arithmetic.append_lag(NOW - 40, NOW) == 0
    assert arithmetic.append_lag(None, NOW) is None
    assert arithmetic.append_lag(NOW, None) is None


def test_time_to_loss() -> None:
    assert arithmetic.time_to_loss(NOW - 40, 100, NOW) == 60
    assert arithmetic.time_to_loss(NOW - 400, 100, NOW) == 0
    assert arithmetic.time_to_loss(NOW - 400, None, NOW) is None


OWNER = TransactionOwner(7, 2, "payments-1")


def at(partition: int, committed: int = 5) -> LogPosition:
    return LogPosition("orders", partition, committed)


def state(partition: int) -> PartitionState:
    return PartitionState(at(partition), NOW - 1000, NOW - 700, 0, 9, NOW - 300)


def undecided(age: int) -> Reading:
    return Reading("none", end=9, undecided_at=NOW - age, stable_end=6)


def test_who_owns_one_is_asked_where_it_lasts() -> None:
    readings = {
        at(0): undecided(ASK_AFTER_MS),
        at(1): undecided(ASK_AFTER_MS - 1),
        at(2): Reading("none", end=9),
        at(3): Reading("record", first=NOW - ASK_AFTER_MS),
    }
    assert begins_to_ask(held_up(readings), NOW) == [at(0, 6)]


def test_what_holds_a_group_up() -> None:
    readings = {at(0): undecided(50), at(1): undecided(HANGING_MS + 1), at(2): Reading("unread")}
    old, young = open_transactions(map(state, range(4)), readings, {at(1, 6): OWNER}, NOW)
    assert (old.partition, old.first_offset, old.since) == (1, 6, NOW - HANGING_MS - 1)
    assert (old.producer_id, old.producer_epoch, old.transactional_id) == OWNER
    assert old.hanging
    assert (young.partition, young.producer_id, young.hanging) == (0, None, False)


def test_the_oldest_are_told() -> None:
    readings = {at(n): undecided(n) for n in range(MOST_TOLD + 5)}
    told = open_transactions(map(state, range(MOST_TOLD + 5)), readings, {}, NOW)
    assert [one.partition for one in told] == list(range(MOST_TOLD + 4, 4, -1))
