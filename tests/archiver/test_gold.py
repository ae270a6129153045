"""Gold counts what silver tells: its SQL, run by DuckDB."""

from typing import Any

import pytest
from archiver.sql_tables import Row, SqlTables
from pyspark.sql.types import DoubleType, StringType
from support.silver_rows import (
    DAY,
    DAYS,
    HEARTBEAT,
    HOUR,
    MINUTE,
    SOURCES,
    START,
    Rows,
    at,
    silver_rows,
)
from warren.settings import Settings
from warren_archiver.gold import catalogue
from warren_archiver.gold.conventions import ERROR, GROWTH
from warren_archiver.gold.limits import limits_of
from warren_archiver.lake.table import Table
from warren_archiver.silver.catalogue import GROUP_MINUTES, LATENESS_MINUTES

SETTINGS = Settings.model_validate(
    {
        "collector": {"heartbeat": HEARTBEAT},
        "objectives": [
            {"name": "on-time", "groups": ["bill"], "max_freshness": 90, "max_lag": 1000}
            | {"target": 0.9},
            {"name": "busy", "topics": ["^orders$"], "min_produce_rate": 20}
            | {"min_time_to_loss": 3600},
        ],
    }
)
GROUP = {"cluster": "prod", "group": "billing"}
Made = dict[str, list[Row]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    return silver_rows()


@pytest.fixture(scope="module")
def made(rows: Rows) -> Made:
    tables, found = SqlTables(), Made()
    for name, table in SOURCES.items():
        tables.put_rows(table, rows[name])
    _put_limits(tables, rows)
    for table in (*catalogue.TABLES[:-1], *catalogue.VIEWS):
        found[table.name] = tables.made("gold", table, SETTINGS)
        tables.put_rows(table, found[table.name])
    return found


def _put_limits(tables: SqlTables, rows: Rows) -> None:
    topics = sorted({(r["cluster"], r["group"], r["topic"]) for r in rows["partition_minutes"]})
    texts = ("cluster", "group", "topic", "objective", "limit")
    numbers = ("wanted", "target")
    limits = [
        dict(zip((*texts, *numbers), row, strict=True))
        for row in limits_of(topics, SETTINGS.objectives)
    ]
    columns = dict.fromkeys(texts, StringType()) | dict.fromkeys(numbers, DoubleType())
    tables.put("limits", columns, limits)


def _made(table: Table, **sources: tuple[Table, list[Row]]) -> list[Row]:
    tables = SqlTables()
    for source, given in sources.values():
        tables.put_rows(source, given)
    return tables.made("gold", table, SETTINGS)


def _of(column: str, moment: int, **more: Any) -> dict[str, Any]:
    return GROUP | {column: at(moment), "date": at(moment).date()} | more


def _held(rows: Rows, group: str, begin: int, end: int) -> dict[str, int]:
    """Recounted, as documented."""
    known = {
        (row["at"], row["position"]): row for row in rows["evaluations"] if row["group"] == group
    }
    in_order = [known[each] for each in sorted(known)]
    held = {"OK": 0, "WARN": 0, "ERR": 0}
    for number, row in enumerate(in_order):
        since = round(row["at"].timestamp() * 1000)
        until = since + 3 * HEARTBEAT * 1000
        if number + 1 < len(in_order):
            until = min(until, round(in_order[number + 1]["at"].timestamp() * 1000))
        held[row["status"]] += max(min(until, end) - max(since, begin), 0)
    return held


def test_statuses_and_lags_are_those_of_a_recount(rows: Rows, made: Made) -> None:
    for row in made[catalogue.STATUS_HOURS.name]:
        begin = round(row["hour"].timestamp() * 1000)
        held = _held(rows, row["group"], begin, begin + HOUR)
        assert held == {name: row[f"{name.lower()}_ms"] for name in held}
        lags = sorted(
            {
                (found["at"], found["position"]): found["total_lag"]
                for found in rows["evaluations"]
                if found["group"] == row["group"]
                and begin <= found["at"].timestamp() * 1000 < begin + HOUR
            }.values()
        )
        assert row["evaluations"] == len(lags)
        if lags:
            assert row["lag_p50"] == lags[-(-len(lags) // 2) - 1]
            assert row["lag_max"] == lags[-1]
            _is_sketch_of(lags, row["lag_sketch"])


def _is_sketch_of(values: list[int], sketch: list[Row]) -> None:
    told = [
        0.0 if entry["bucket"] == 0 else 2 * GROWTH ** entry["bucket"] / (GROWTH + 1)
        for entry in sketch
        for _ in range(entry["count"])
    ]
    assert len(told) == len(values)
    for value, shown in zip(values, told, strict=True):
        assert abs(shown - value) <= ERROR * value + 1e-9


def _rows(made: Made, table: Table, **where: Any) -> list[Row]:
    return [
        row for row in made[table.name] if all(row[name] == value for name, value in where.items())
    ]


def test_each_row_is_there_once(made: Made) -> None:
    for table in (*catalogue.TABLES[:-1], *catalogue.VIEWS):
        keys = [tuple(str(row[name]) for name in table.key) for row in made[table.name]]
        assert keys
        assert len(set(keys)) == len(keys)


def test_a_group_that_is_behind_shows_how_fast_it_can_go(made: Made) -> None:
    hours = _rows(made, catalogue.RATE_HOURS, group="billing")
    assert max(row["pace_behind"] or 0 for row in hours) == 15.0
    assert {row["produce_peak"] for row in hours} == {10.0, 11.0, 12.0, 13.0}


def test_capacity_follows_the_trend(made: Made) -> None:
    """Produced: 10, 11, 12 and 13 records a second; consumed at best 15. Of those days the busiest
    hours are those of which half is known."""
    row = _rows(made, catalogue.CAPACITY, group="billing")[-1]
    assert (row["days"], row["capacity"], row["level"], row["slope"]) == (4, 15.0, 13.0, 1.0)
    assert (row["crosses_in_days"], row["earliest_in_days"], row["latest_in_days"]) == (2, 2, 2)
    assert row["crosses_on"] == at(START + 5 * DAY).date()
    assert row["days_until_loss"] == pytest.approx(5, rel=0.05)


def test_objectives_are_counted_in_minutes(rows: Rows, made: Made) -> None:
    lag = _rows(made, catalogue.OBJECTIVE_DAYS, group="billing", limit="max_lag")
    minutes = [row for row in rows["group_minutes"] if row["group"] == "billing"]
    broken = sum(row["lag"] // 2 * 2 > 1000 for row in minutes)
    assert len(lag) == DAYS
    assert sum(row["broken"] for row in lag) == broken
    assert sum(row["minutes"] for row in lag) == len(minutes)
    budget = _rows(made, catalogue.ERROR_BUDGETS, group="billing", limit="max_lag")[-1]
    assert budget["broken_30d"] == broken
    assert budget["budget_left"] == pytest.approx(1 - broken / (len(minutes) * 0.1))
    others = _rows(made, catalogue.OBJECTIVE_DAYS, group="a|b")
    assert {row["limit"] for row in others} == {"min_produce_rate", "min_time_to_loss"}
    assert all(row["burn_rate"] is None for row in others)
    assert all(
        row["attainment"] == (0.0 if row["limit"] == "min_produce_rate" else 1.0) for row in others
    )


def test_a_rate_is_of_the_minutes_that_are_known() -> None:
    """The log end was unknown every other minute."""
    minutes = [
        _of("minute", START + n * MINUTE, consumed=10, produced=None if n % 2 else 12)
        for n in range(60)
    ]
    (row,) = _made(catalogue.RATE_HOURS, minutes=(GROUP_MINUTES, minutes))
    assert (row["minutes"], row["produced_minutes"], row["consumed_minutes"]) == (60, 30, 60)
    assert (row["produce_rate"], row["consume_rate"]) == (0.2, pytest.approx(1 / 6))
    assert row["busiest_hour_rate"] == 0.2


def test_a_minute_is_no_busiest_hour() -> None:
    minutes = [_of("minute", START + n * MINUTE, produced=60) for n in range(60)]
    minutes.append(_of("minute", START + HOUR, produced=54_000))
    hours = _made(catalogue.RATE_HOURS, minutes=(GROUP_MINUTES, minutes))
    assert [row["busiest_hour_rate"] for row in hours] == [1.0, None]
    assert [row["produce_peak"] for row in hours] == [1.0, 900.0]


def _capacity(hours: list[Row], late: list[Row]) -> Row:
    found = _made(
        catalogue.CAPACITY,
        hours=(catalogue.RATE_HOURS, hours),
        late=(catalogue.LATENESS_HOURS, late),
    )
    return found[-1]


def test_a_day_that_has_begun_does_not_bend_the_trend() -> None:
    days = [
        _of("hour", START + n * DAY, minutes=1440, busiest_hour_rate=rate, pace_behind=200.0)
        for n, rate in enumerate((100.0, 120.0, 140.0))
    ]
    morning = _of("hour", START + 3 * DAY, minutes=6, busiest_hour_rate=20.0, pace_behind=200.0)
    evening = morning | {"minutes": 1400, "busiest_hour_rate": 160.0}
    for last, known in ((morning, 3), (evening, 4)):
        row = _capacity([*days, last], [])
        assert (row["slope"], row["level"], row["crosses_in_days"]) == (20.0, 160.0, 2.0)
        assert row["days"] == known


MOST = 2**63 - 1
HOSTILE = [(START + number * MINUTE, 0 if number % 2 else MOST) for number in range(12)]


def test_sums_that_nobody_can_hold_are_unknown() -> None:
    """Of a group that commits 0 and the greatest offset by turns."""
    minutes = [
        _of("minute", moment, consumed=moved, produced=moved, rewound=moved, lag=MOST)
        for moment, moved in HOSTILE
    ]
    (row,) = _made(catalogue.RATE_HOURS, minutes=(GROUP_MINUTES, minutes))
    assert (row["minutes"], row["consumed"], row["pace_behind"]) == (len(minutes), None, None)
    late = {"late_ms": MOST, "late_max_ms": MOST, "lost_records": MOST, "produce_rate": 1e308}
    minutes = [
        _of("minute", moment, topic=topic, time_to_loss_ms=moved, **late)
        for moment, moved in HOSTILE
        for topic in ("orders", "bills")
    ]
    (row,) = _made(catalogue.LATENESS_HOURS, minutes=(LATENESS_MINUTES, minutes))
    assert (row["late_p99_ms"], row["lost_records"]) == (MOST, None)


def test_the_last_time_to_loss_is_the_last_one_that_was_known() -> None:
    minutes = [
        _of("minute", START + number * MINUTE, topic="orders", time_to_loss_ms=left)
        for number, left in enumerate([9, 5, None])
    ]
    (row,) = _made(catalogue.LATENESS_HOURS, minutes=(LATENESS_MINUTES, minutes))
    assert (row["time_to_loss_ms"], row["time_to_loss_end_ms"]) == (5, 5)


def test_a_group_of_which_nothing_grows_has_no_day_on_which_it_will_be_too_much() -> None:
    """Nor is a slope of nothing divided by."""
    rates = [
        _of("hour", START + number * DAY, busiest_hour_rate=0.0, pace_behind=1.0)
        for number in range(4)
    ]
    late = [
        _of("hour", START + number * HOUR, time_to_loss_end_ms=left)
        for number, left in enumerate([5, 5, 5, MOST, 0, MOST, 5])
    ]
    row = _capacity(rates, late)
    assert (row["slope"], row["crosses_in_days"], row["days_until_loss"]) == (0.0, None, None)
