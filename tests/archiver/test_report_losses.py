"""What a period lost is what its count grew by: periods add up."""

from pathlib import Path

import pytest
from support.lake_files import write_table
from support.report_lake import DAY, MINUTE, START, moment
from warren.history.lake_tables import LakeTables
from warren_archiver.report.facts import losses
from warren_archiver.report.period import Period

COLUMNS = {"cluster": "VARCHAR", "group": "VARCHAR", "topic": "VARCHAR"}
COLUMNS |= {"minute": "TIMESTAMPTZ", "lost_records": "BIGINT"}
FIRST = START + 10 * MINUTE


def _lake(path: Path, **topics: list[int | None]) -> Path:
    """Counts by minute, of a group's topics."""
    rows = [
        {"cluster": "prod", "group": "losing", "topic": topic}
        | {"minute": moment(FIRST + number * MINUTE), "lost_records": count}
        for topic, counts in topics.items()
        for number, count in enumerate(counts)
    ]
    write_table(path, "silver/lateness_minutes", COLUMNS, rows)
    return path


def _lost(path: Path, first: int, last: int) -> int | None:
    """In the minutes [first, last)."""
    with LakeTables(str(path)) as tables:
        found = losses(tables, Period(FIRST + first * MINUTE, FIRST + last * MINUTE))
    lost: int | None = found["prod", "losing"]["lost_records"]
    return lost


@pytest.mark.parametrize(
    ("counts", "first", "last", "lost"),
    [
        ([2_102, 2_210, 2_342, 2_450], 1, 3, 240),
        ([2_102, 2_210, 2_342, 2_450], 3, 4, 108),
        ([7, 7, 7], 1, 3, 0),
        ([0, 5, 40, 0, 0, 30, 45], 1, 7, 85),
        ([100, None, 130], 1, 3, 30),
        ([0, 66, 176], 0, 3, 176),
        ([66, 66], 0, 2, None),
        ([66, 176], 0, 2, 110),
        ([2**63 - 1, 0, 2**63 - 1, 0, 2**63 - 1], 1, 5, 2**63 - 1),
    ],
    ids=["grows", "a minute", "before", "anew", "too many", "first", "unknown", "begun", "most"],
)
def test_a_loss_is_growth(
    tmp_path: Path, counts: list[int | None], first: int, last: int, lost: int | None
) -> None:
    """Of the first count of all nobody knows when it grew."""
    assert _lost(_lake(tmp_path, orders=counts), first, last) == lost


def test_periods_add_up(tmp_path: Path) -> None:
    """Of several topics; one of them is caught up with while the other one loses more."""
    path = _lake(tmp_path, a=[0, 10, 25, 0, 0, 3, 3, 9], b=[5, 5, 8, 40, 41, 0, 0, 2])
    parts = [_lost(path, minute, minute + 1) or 0 for minute in range(1, 8)]
    assert parts == [10, 18, 32, 1, 3, 0, 8]
    assert sum(parts) == _lost(path, 1, 8) == (_lost(path, 1, 4) or 0) + (_lost(path, 4, 8) or 0)


def test_what_had_been_lost_hours_before_is_not_lost_again(tmp_path: Path) -> None:
    """Freshness was down for half a day."""
    path = _lake(tmp_path, orders=[100])
    later = {"cluster": "prod", "group": "losing", "topic": "orders", "lost_records": 107}
    write_table(
        path,
        "silver/lateness_minutes",
        COLUMNS,
        [later | {"minute": moment(FIRST + DAY // 2)}],
    )
    assert _lost(path, 700, 730) == 7


@pytest.mark.parametrize(
    ("counts", "is_least"),
    [([0, 5, 40], False), ([0, 40, 0, 30], True), ([66, 176], True), ([0, 0], False)],
    ids=["grows", "fell", "begun", "none"],
)
def test_what_is_lost_is_a_bound_where_the_count_was_not_seen_to_grow(
    tmp_path: Path, counts: list[int | None], is_least: bool
) -> None:
    path = _lake(tmp_path, orders=counts)
    with LakeTables(str(path)) as tables:
        found = losses(tables, Period(FIRST, FIRST + len(counts) * MINUTE))
    assert found["prod", "losing"]["lost_at_least"] is is_least
