from typing import Any

import pytest
from api.served_api import CAUGHT_UP, freshness_event, lag_event, late, topic
from warren_api.model.freshness import GroupFreshness
from warren_api.model.group import GroupView, StatusSince
from warren_api.model.partitions import Edge, PartitionRow


def test_columns_become_rows_by_topic_and_number() -> None:
    topics = {
        "b": topic({"partition": 2, "lag": None, "start": None, "end": None}),
        "a": topic({"partition": 10}, {"partition": 9, "end": (7, 20, 21, None)}),
    }
    rows = GroupView(lag_event("g", topics=topics)).partitions
    assert [(row.topic, row.partition) for row in rows] == [("a", 9), ("a", 10), ("b", 2)]
    assert rows[0].end == Edge(offset=7, at=20, observed_at=21, lag=None)
    assert rows[2] == PartitionRow(
        topic="b",
        partition=2,
        status="OK",
        committed=100,
        committed_at=rows[2].committed_at,
        log_start=0,
        log_end=100,
        lag=None,
        complete=1.0,
        start=None,
        end=None,
    )


def test_the_worst_partition_is_the_most_severe_then_the_most_behind() -> None:
    topics = {
        "t": topic(
            {"status": "WARN", "lag": 9000},
            {"status": "STOP", "lag": 5},
            {"status": "STOP", "lag": 50},
            {"status": "OK", "lag": 10_000},
        )
    }
    view = GroupView(lag_event("g", topics=topics))
    assert view.worst is not None
    assert view.worst.partition == 2
    assert view.max_lag is not None
    assert view.max_lag.partition == 3
    assert list(view.partition_counts.items()) == [("STOP", 2), ("WARN", 1), ("OK", 1)]
    assert view.partition_count == 4


def test_a_group_without_partitions_has_no_worst() -> None:
    view = GroupView(lag_event("g", topics={}))
    assert (view.worst, view.max_lag, view.partition_count) == (None, None, 0)


def test_since_is_the_newest_fact_about_the_present_status() -> None:
    incident = {"id": "i", "opened_at": 1_000}
    failed = lag_event("g", status="ERR", incident=incident)
    assert GroupView(failed).since == 1_000
    assert GroupView(failed, StatusSince("ERR", 2_000)).since == 2_000  # WARN became ERR
    assert GroupView(failed, StatusSince("OK", 500)).since == 1_000  # the change is on its way
    assert GroupView(failed, StatusSince("ERR", 500)).since == 1_000  # of an earlier incident
    assert GroupView(lag_event("g")).since is None
    assert GroupView(lag_event("g"), StatusSince("OK", 3_000)).since == 3_000


def measured(*rows: dict[str, Any], **fields: Any) -> GroupView:
    return GroupView(
        lag_event("g", **fields), freshness=GroupFreshness(freshness_event("g", rows=list(rows)))
    )


def test_rows_carry_the_freshness_of_their_partition() -> None:
    topics = {"orders": topic({"partition": 1}, {"partition": 7}), "other": topic({})}
    rows = measured(CAUGHT_UP, late(9), topics=topics).partitions
    freshness = [row.freshness.freshness_ms if row.freshness else None for row in rows]
    assert freshness == [9, None, None]


def test_lost_records_are_known_without_freshness_too() -> None:
    expired = {"committed": 100, "log_start": 400}
    unknown = {"committed": -1, "log_start": 400}
    topics = {"orders": topic(expired, unknown, {"committed": 5, "log_start": -1})}
    judged = GroupView(lag_event("g", topics=topics))
    assert judged.lost_records == 300
    assert [row.lost_records for row in judged.partitions] == [300, 0, 0]
    view = measured(late(9, lost_records=310), CAUGHT_UP, CAUGHT_UP, topics=topics)
    assert view.lost_records == 310
    assert [row.lost_records for row in view.partitions] == [310, 0, 0]


@pytest.mark.parametrize(
    ("row", "losing"),
    [
        (CAUGHT_UP, False),
        (late(3_600_000, time_to_loss_ms=3_600_000), False),
        (late(3_600_000, time_to_loss_ms=3_599_999), True),
        (late(9, time_to_loss_ms=3_540_000), False),  # kept for an hour, and it keeps up
        (late(9, time_to_loss_ms=3_540_000, retention_left=0.4), True),
        (late(9, time_to_loss_ms=0), True),
        (late(9, lost_records=1, reason="expired"), True),
        (late(9, lost_records=1, reason="expired", time_to_loss_ms=9_000_000), True),
    ],
)
def test_partitions_lose_data_as_their_group_does(row: dict[str, Any], losing: bool) -> None:
    view = measured(row, topics={"orders": topic({})})
    assert view.is_losing == losing
    assert view.partitions[0].is_losing == losing


@pytest.mark.parametrize(("catch_up_ms", "loses_in"), [(60_000, None), (900_000, 600_000)])
def test_who_catches_up_in_time_loses_nothing(catch_up_ms: int, loses_in: int | None) -> None:
    """Each partition for itself: another one may never catch up."""
    in_time = late(1_800_000, time_to_loss_ms=600_000, time_to_catch_up_ms=catch_up_ms)
    assert measured(in_time, late(9_000, time_to_loss_ms=9_000_000)).loses_in_ms == loses_in


@pytest.mark.parametrize(
    ("status", "loses_in"),
    [("OK", None), ("WARN", None), ("STOP", 2_400_000), ("STALL", 2_400_000)],
)
def test_what_is_not_read_on_is_lost_where_it_would_go_within_the_hour(
    status: str, loses_in: int | None
) -> None:
    """Of an hour's retention two thirds are left: who reads on reads it long before."""
    view = measured(
        late(1_200_000, time_to_loss_ms=2_400_000, retention_left=0.66),
        topics={"orders": topic({"status": status})},
    )
    assert view.loses_in_ms == loses_in
    assert view.partitions[0].loses_in_ms == loses_in
    assert view.data_loss == ("soon" if loses_in else None)


@pytest.mark.parametrize(
    ("rows", "losing"),
    [
        ([late(9, lost_records=1)], True),
        ([late(1_800_000, time_to_loss_ms=1_800_000)], True),
        # Half an hour of retention, and it keeps up.
        ([late(5_000, time_to_loss_ms=1_795_000)], False),
        ([late(1_799_999, time_to_loss_ms=1_800_000)], False),
        ([late(9 * 3_600_000, time_to_loss_ms=3_600_000)], False),
        # Very late in one partition, little time in another: neither is in danger.
        ([late(9 * 3_600_000, time_to_loss_ms=9_000_000), late(5, time_to_loss_ms=60_000)], False),
        ([late(5, time_to_loss_ms=60_000), late(60_000, time_to_loss_ms=50_000)], True),
        ([late(None, reason="timeout", bound_ms=9)], False),
    ],
)
def test_a_group_loses_data_when_its_retention_runs_out(
    rows: list[dict[str, Any]], losing: bool
) -> None:
    assert measured(*rows).is_losing == losing


def test_groups_that_lose_data_come_first_and_the_nearest_loss_of_them() -> None:
    old = {"id": "i", "opened_at": 5}
    new = {"id": "i", "opened_at": 500}

    def losing_in(milliseconds: int) -> dict[str, Any]:
        return late(90_000_000, time_to_loss_ms=milliseconds)

    views = {
        "ok in 1 m": measured(losing_in(60_000)),
        "err in 2 m": measured(losing_in(120_000), status="ERR", incident=old),
        "ok lost": measured(late(9, lost_records=1)),
        "err lost": measured(late(9, lost_records=1), status="ERR", incident=new),
        "ok": GroupView(lag_event("g", total_lag=9)),
        "err old": GroupView(lag_event("g", status="ERR", incident=old)),
    }
    ranked = sorted(views, key=lambda name: views[name].rank)
    assert ranked == ["err lost", "ok lost", "ok in 1 m", "err in 2 m", "err old", "ok"]
