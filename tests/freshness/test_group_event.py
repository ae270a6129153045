from __future__ import annotations

from freshness.events import CLUSTER, GROUP, NOW
from warren.contracts import FreshnessEvent, TopicFreshness, WorstFreshness
from warren_freshness.figures.group_event import group_event
from warren_freshness.figures.partition_figures import Row
from warren_freshness.positions.group_positions import GroupSnapshot

SNAPSHOT = GroupSnapshot(CLUSTER, GROUP, NOW - 5, {})


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


def test_a_topic_without_partitions_is_no_row() -> None:
    """As somebody's own offset event may have one."""
    rows = {"orders": [Row(3, 9, 0, "caught_up", 0)], "empty": []}
    assert group_event(SNAPSHOT, rows, NOW) == group_event(
        SNAPSHOT, {"orders": rows["orders"]}, NOW
    )


def test_all_caught_up() -> None:
    event = group_event(SNAPSHOT, {"orders": [Row(3, 9, 0, "caught_up", 0)]}, NOW)
    assert event.freshness_ms == 0
    assert event.worst == WorstFreshness(topic="orders", partition=3, freshness_ms=0)
    assert event.time_to_loss_ms is None


def test_nothing_known() -> None:
    event = group_event(SNAPSHOT, {"orders": [Row(0, 5, None, "timeout", 7)]}, NOW)
    assert (event.freshness_ms, event.at_least_ms) == (None, 7)
    assert event.worst == WorstFreshness(topic="orders", partition=0, freshness_ms=7, at_least=True)
    nothing = group_event(SNAPSHOT, {"orders": [Row(0, 5, None, "timeout", None)]}, NOW)
    assert (nothing.freshness_ms, nothing.at_least_ms, nothing.worst) == (None, None, None)


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
        event = group_event(SNAPSHOT, {"orders": rows}, NOW)
        assert event.time_to_loss_reason == reason
