"""History from minutes' tables, read without a JVM."""

from datetime import timedelta
from pathlib import Path

import pytest
from support.lake_files import LATE, MOVES, OF_TOPIC, WHO, write_table
from support.report_lake import moment
from warren.history.history import History, Point
from warren.history.lake_tables import (
    LakeTables,
    LakeUnreadable,
    moment as as_moment,
    text as as_text,
)

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
MIDNIGHT = 1_795_219_200_000


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hours of two groups, around midnight; partition 1 has half of partition 0's lag."""
    path = tmp_path_factory.mktemp("lake")
    groups, partitions, late, topics = [], [], [], []
    for number in range(-60, 60):
        at = {"cluster": "prod", "minute": moment(MIDNIGHT + number * MINUTE)}
        for group, more in (("billing", 0), ("it's|other", 1_000)):
            own = at | {"group": group}
            moved = {"produced": 10, "consumed": 9, "lag": 60 + number + more}
            groups.append(own | moved)
            for topic in ("orders", "invoices"):
                for partition in (0, 1):
                    half = {"topic": topic, "partition": partition, "lag": 2 // (partition + 1)}
                    partitions.append(own | half | {"produced": 3, "consumed": None})
                told = {"late_max_ms": len(topic) * 1_000, "time_to_loss_ms": HOUR}
                late.append(own | told | {"topic": topic})
        topics.append(at | {"topic": "orders", "produced": 7})
    write_table(path, "silver/group_minutes", WHO | MOVES, groups)
    columns = WHO | {"topic": "VARCHAR", "partition": "BIGINT"} | MOVES
    write_table(path, "silver/partition_minutes", columns, partitions)
    write_table(path, "silver/lateness_minutes", WHO | LATE, late)
    write_table(path, "silver/topic_minutes", OF_TOPIC, topics)
    return path


def test_a_group_is_told_in_steps_across_midnight(lake: Path) -> None:
    with History(str(lake)) as history:
        start = MIDNIGHT - 30 * MINUTE
        points = history.group("prod", "billing", start, MIDNIGHT + 30 * MINUTE, 30 * MINUTE)
    assert points == [
        Point(start, 59, 59, 300, 270, 8_000, HOUR),
        Point(MIDNIGHT, 89, 89, 300, 270, 8_000, HOUR),
    ]


def test_a_group_has_a_part_in_each_topic(lake: Path) -> None:
    with History(str(lake)) as history:
        (point,) = history.group(
            "prod", "it's|other", MIDNIGHT, MIDNIGHT + HOUR, HOUR, topic="orders"
        )
    assert point == Point(MIDNIGHT, 3, 3, 360, None, 6_000, HOUR)


def test_a_topic_needs_no_group(lake: Path) -> None:
    with History(str(lake)) as history:
        points = history.topic("prod", "orders", MIDNIGHT - HOUR, MIDNIGHT + HOUR, HOUR)
        assert [(point.at, point.produced, point.lag) for point in points] == [
            (MIDNIGHT - HOUR, 420, None),
            (MIDNIGHT, 420, None),
        ]
        assert history.topic("other", "orders", MIDNIGHT, MIDNIGHT + HOUR, HOUR) == []


def test_what_is_written_afterwards_is_told(tmp_path: Path) -> None:
    row = {"cluster": "prod", "group": "g", "minute": moment(MIDNIGHT)}
    with History(str(tmp_path)) as history:
        assert history.group("prod", "g", MIDNIGHT, MIDNIGHT + DAY, DAY) == []
        for number in (1, 2):
            more = {"produced": number, "minute": moment(MIDNIGHT + number * MINUTE)}
            write_table(tmp_path, "silver/group_minutes", WHO | MOVES, [row | more])
            points = history.group("prod", "g", MIDNIGHT, MIDNIGHT + DAY, DAY)
            assert [point.produced for point in points] == [[1, 3][number - 1]]


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (0, HOUR, 1_000),
        (0, HOUR, 90_000),
        (HOUR, HOUR, MINUTE),
        (-1, HOUR, MINUTE),
        (0, DAY * 30, MINUTE),
    ],
)
def test_a_period_or_step_that_cannot_be_is_refused(
    lake: Path, start: int, end: int, step: int
) -> None:
    with History(str(lake)) as history, pytest.raises(ValueError, match=r"step|period|points"):
        history.group("prod", "billing", start, end, step)


def test_a_lake_by_url_is_read_whole(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By delta-rs alone, the days and columns that are asked for."""
    columns = {"group": "VARCHAR", "lag": "BIGINT"}
    day = moment(MIDNIGHT).date()
    with LakeTables(str(lake)) as tables:
        monkeypatch.setattr(tables, "_is_url", True)
        for _ in range(2):
            tables.view("minutes", "silver/group_minutes", [day], columns)
            (row,) = tables.rows("SELECT count(*) AS number, max(lag) AS lag FROM minutes")
    assert row == {"number": 120, "lag": 1_119}


@pytest.mark.parametrize("by_url", [False, True])
def test_a_condition_narrows_a_view(
    lake: Path, monkeypatch: pytest.MonkeyPatch, *, by_url: bool
) -> None:
    """Of any column, those that are not asked for, too; both readers understand its literals."""
    day, last = moment(MIDNIGHT).date(), MIDNIGHT + 59 * MINUTE
    who, now = as_text("it's|other"), as_moment(last)
    where = f'"group" = {who} AND minute >= {now}'
    with LakeTables(str(lake)) as tables:
        monkeypatch.setattr(tables, "_is_url", by_url)
        for days in ([day], None):
            tables.view("minutes", "silver/group_minutes", days, {"lag": "BIGINT"}, where)
            assert tables.rows("FROM minutes") == [{"lag": 1_119}]


@pytest.mark.parametrize("by_url", [False, True])
def test_a_column_that_an_earlier_warren_did_not_write_is_null(
    lake: Path, monkeypatch: pytest.MonkeyPatch, *, by_url: bool
) -> None:
    columns = {"names": "VARCHAR[]", "lag": "BIGINT", "minutes": "BIGINT"}
    with LakeTables(str(lake)) as tables:
        monkeypatch.setattr(tables, "_is_url", by_url)
        tables.view("minutes", "silver/group_minutes", None, columns)
        (row,) = tables.rows("SELECT max(lag) AS lag, max(minutes), max(len(names)) FROM minutes")
    assert list(row.values()) == [1_119, None, None]


@pytest.mark.parametrize("by_url", [False, True])
def test_a_view_of_a_century_and_of_days_apart(
    lake: Path, by_url: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own, delta-rs ended without a word at some 25,000 days."""
    with LakeTables(str(lake)) as tables:
        monkeypatch.setattr(tables, "_is_url", by_url)
        before, after = sorted(tables.days("silver/group_minutes"))
        century = [after - timedelta(days=number) for number in range(36_500)]
        apart = [before - timedelta(days=2), after, after + timedelta(days=2)]
        for days, rows in ((century, 240), (apart, 120), ([before], 120), ([], 0)):
            tables.view("minutes", "silver/group_minutes", days, WHO)
            assert tables.rows("SELECT count(*) AS n FROM minutes") == [{"n": rows}]


def test_days_are_told_the_newest_first(lake: Path) -> None:
    with LakeTables(str(lake)) as tables:
        found = tables.days("silver/group_minutes")
        assert found == [moment(at).date() for at in (MIDNIGHT, MIDNIGHT - 1)]
        assert tables.days("silver/none") == []


@pytest.mark.parametrize("version", [0, 1])
def test_a_table_that_cannot_be_read_says_which(tmp_path: Path, version: int) -> None:
    """It has rows, which nobody finds: no table that is yet to come."""
    write_table(tmp_path, "silver/group_minutes", WHO, [{"minute": moment(MIDNIGHT)}])
    log = tmp_path / "silver" / "group_minutes" / "_delta_log"
    (log / f"{version:020d}.json").write_text("no JSON")
    with History(str(tmp_path)) as history, pytest.raises(LakeUnreadable, match="group_minutes"):
        history.group("prod", "g", MIDNIGHT, MIDNIGHT + DAY, DAY)
