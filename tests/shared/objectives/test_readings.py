"""Limits read from freshness events: a lower bound is enough to break one, and not to keep it."""

from typing import Any

import pytest
from support.freshness_events import WELL, Row, freshness_event, late
from warren.contracts import Status
from warren.settings import ObjectiveSettings
from warren_core.objectives.limits import Limit, ObjectiveBook
from warren_core.objectives.readings import GroupLag, Reading, read

HOUR = 3_600_000
UNHEARD = late(None, reason="timeout", bound_ms=None)


def limit(name: str, wanted: float, **more: Any) -> Limit:
    return Limit("o", name, wanted, Status.WARN, **more)  # type: ignore[arg-type]


def reading(of: Limit, *rows: Row, lag: GroupLag | None = None, **more: Any) -> Reading:
    return read(of, freshness_event(0, *rows, **more), lambda: lag)


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([WELL, late(60_000)], "kept"),
        ([WELL, late(60_001)], "broken"),
        ([late(None, reason="expired", bound_ms=60_001)], "broken"),  # at least so late
        ([late(None, reason="expired", bound_ms=1)], "unknown"),
        ([late(90_000, reason="estimated", bound_ms=20_000)], "broken"),
        ([late(90_000, reason="estimated", bound_ms=40_000)], "unknown"),  # 50 s to 90 s
        ([late(90_000, reason="open_transaction", bound_ms=90_000)], "unknown"),
        ([UNHEARD, late(5)], "unknown"),
        ([UNHEARD], "unknown"),
        ([UNHEARD, late(90_000)], "broken"),
        ([late(None, reason="no_commit", bound_ms=None), WELL], "kept"),
        ([late(None, reason="no_commit", bound_ms=60_000), WELL], "unknown"),
        ([late(None, reason="no_commit", bound_ms=60_001), WELL], "broken"),  # at least so late
        ([], "kept"),
    ],
)
def test_how_late_it_may_be(rows: list[Row], verdict: str) -> None:
    assert reading(limit("max_freshness", 60_000), *rows).verdict == verdict


def test_the_worst_partition_is_named() -> None:
    found = reading(limit("max_freshness", 60_000), late(70_000), late(600_000), WELL)
    assert (found.value, found.topic, found.partition) == (600_000, "orders", 1)
    assert found.sentence == "orders/1 is at least 10m late (limit 1m)"


@pytest.mark.parametrize(
    ("lag", "verdict"),
    [
        (GroupLag({"orders": (11, True)}), "broken"),
        (GroupLag({"orders": (11, False)}), "broken"),  # the sum of what is known
        (GroupLag({"orders": (10, True)}), "kept"),
        (GroupLag({"orders": (10, False)}), "unknown"),
        (None, "unknown"),
    ],
)
def test_how_far_behind_it_may_be(lag: GroupLag | None, verdict: str) -> None:
    assert reading(limit("max_lag", 10), WELL, lag=lag).verdict == verdict


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        ([1.0, 1.0], "kept"),
        ([2.5, None], "kept"),
        ([1.0, 0.5], "broken"),
        ([1.0, None], "unknown"),
    ],
)
def test_how_much_is_to_be_produced(rates: list[float | None], verdict: str) -> None:
    rows = [{"produce_rate": each} for each in rates]
    assert reading(limit("min_produce_rate", 2.0), *rows).verdict == verdict


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (late(5, time_to_loss_ms=HOUR - 1, retention_left=0.49), "broken"),
        (late(5, time_to_loss_ms=HOUR - 1, retention_left=0.5), "kept"),  # kept for 2 h at most
        (late(5, time_to_loss_ms=HOUR, retention_left=0.1), "kept"),
        (late(5, time_to_loss_ms=HOUR - 1), "unknown"),  # how much is left, is not
        (late(5), "kept"),  # it is kept for ever
        (late(5, time_to_loss_reason="size_unknown"), "unknown"),
        (late(None, reason="bad_timestamp", time_to_loss_reason="oldest_unknown"), "unknown"),
        (UNHEARD, "unknown"),
        (WELL, "kept"),
    ],
)
def test_what_retention_leaves(row: Row, verdict: str) -> None:
    near = limit("min_time_to_loss", HOUR, below_share=0.5)
    assert reading(near, row, WELL).verdict == verdict


def test_of_an_objective_time_alone_counts() -> None:
    asked = limit("min_time_to_loss", HOUR)
    assert reading(asked, late(5, time_to_loss_ms=HOUR - 1)).verdict == "broken"
    assert reading(asked, late(5, time_to_loss_ms=HOUR - 1, retention_left=1.0)).verdict == "broken"


def test_records_that_are_lost() -> None:
    lost = limit("lost_records", 0)
    found = reading(lost, late(None, lost_records=3), WELL, late(None, lost_records=61))
    assert (found.verdict, found.value) == ("broken", 64)
    assert found.sentence == ("64 unread records deleted (orders/2 and 1 more)")
    assert reading(lost, WELL, late(5)).verdict == "kept"
    assert reading(lost, WELL, UNHEARD).verdict == "unknown"


def objective(**named: Any) -> ObjectiveSettings:
    return ObjectiveSettings.model_validate({"name": "a", **named})


def keys(*settings: ObjectiveSettings, group: str = "billing") -> list[str]:
    return [each.key for each in ObjectiveBook(settings).limits_for("prod", group)]


DEFAULT = ["retention/lost_records", "retention/min_time_to_loss"]


def test_each_group_has_the_default_and_what_matches_it() -> None:
    late_ones = objective(groups="^bill", max_freshness=60, max_lag=5)
    assert keys(late_ones) == [*DEFAULT, "a/max_freshness", "a/max_lag"]
    assert keys(late_ones, group="shipping") == DEFAULT
    assert keys(objective(clusters=["^test"], max_lag=5)) == DEFAULT


def test_an_objective_of_retention_takes_the_place_of_the_default() -> None:
    assert keys(objective(min_time_to_loss=60)) == ["a/min_time_to_loss", "a/lost_records"]
    assert keys(objective(min_time_to_loss=0)) == []


def test_where_it_is_of_some_topics_the_default_is_of_the_others() -> None:
    book = ObjectiveBook([objective(topics="^orders", min_time_to_loss=0)])
    lost = book.limits_for("prod", "billing")[0]
    topics = {"orders": [late(None, lost_records=3)], "bills": [late(None, lost_records=2)]}
    found = read(lost, freshness_event(0, topics=topics), lambda: None)
    assert (found.value, found.topic) == (2, "bills")


def test_topics_narrow_an_objective() -> None:
    book = ObjectiveBook([objective(topics="^orders", max_lag=5)])
    (_, _, behind) = book.limits_for("prod", "billing")
    lag = GroupLag({"orders": (5, True), "bills": (70, True)})
    assert read(behind, freshness_event(0, WELL), lambda: lag).verdict == "kept"
