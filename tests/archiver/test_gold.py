"""Gold counts what silver tells; others read it. One lake for all tests."""

import random
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from support.manual_clock import ManualClock
from support.other_readers import assert_is_stored
from support.silver_rows import (
    DAY,
    DAYS,
    END,
    GROUPS,
    HEARTBEAT,
    HOUR,
    MINUTE,
    SOURCES,
    START,
    Rows,
    append,
    at,
    ensure_tables,
    frame,
    silver_rows,
)
from warren.settings import Settings
from warren_archiver.gold import catalogue
from warren_archiver.gold import gold as gold_module
from warren_archiver.gold.conventions import ERROR
from warren_archiver.gold.gold import Gold
from warren_archiver.gold.plan import Source, whole
from warren_archiver.gold.sketch import representative
from warren_archiver.gold.units import Unit
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.table import Table
from warren_archiver.silver.catalogue import (
    EVALUATIONS,
)
from warren_archiver.silver.upsert import upsert

pytestmark = [pytest.mark.timeout(1800), pytest.mark.contract]
STATUS_DAYS = catalogue.STATUS[Unit.DAY]
# The same functions make hours of them, or days: one of both is enough to see.
LEFT_OUT = [
    catalogue.LATENESS[Unit.DAY],
    catalogue.RATE[Unit.HOUR],
    *(
        pair[Unit.HOUR]
        for pair in (catalogue.INCIDENT, catalogue.ALERT, catalogue.MEMBERSHIP, catalogue.OBJECTIVE)
    ),
]
STEPS = tuple(step for step in gold_module.STEPS if step.table not in LEFT_OUT)
TABLES = [step.table for step in STEPS]
OBJECTIVES = [
    {"name": "on-time", "groups": ["bill"], "max_freshness": 90, "max_lag": 1000, "target": 0.9},
    {"name": "busy", "topics": ["^orders$"], "min_produce_rate": 20, "min_time_to_loss": 3600},
]


@dataclass(frozen=True)
class Filled:
    path: Path
    rows: Rows
    stored: dict[str, list[Row]]
    again: dict[str, int]
    """Rows that were written when nothing had changed, by table."""


def _settings(path: Path) -> Settings:
    return Settings.model_validate(
        {
            "archiver": {"path": str(path), "silver_interval": 60},
            "collector": {"heartbeat": HEARTBEAT},
            "objectives": OBJECTIVES,
        }
    )


@pytest.fixture(scope="module")
def filled(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    path = tmp_path_factory.mktemp("lake")
    lake, rows = Lake.at(str(path)), silver_rows()
    ensure_tables(spark, lake, SOURCES.values(), TABLES)
    for name, table in SOURCES.items():
        append(spark, lake, table, rows[name])
    gold = Gold(spark, lake, _settings(path), ManualClock(END))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gold_module, "STEPS", STEPS)
        gold.catch_up()
        again = gold.catch_up()
    read = spark.read.format("delta")
    stored = {table.name: read.load(lake.gold(table.name)).collect() for table in TABLES}
    return Filled(path, rows, stored, again)


class _Killed:
    sources = tuple(Source(table) for table in SOURCES.values())

    def __getattr__(self, _: str) -> Any:
        raise PySparkException("killed")


def _store(spark: SparkSession, lake: Lake, rows: Rows) -> None:
    for name, table in SOURCES.items():
        path = lake.silver(name)
        stored = spark.read.format("delta").load(path)
        upsert(spark, path, table, frame(spark, table, rows[name]), stored)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_are_stored_once_as_others_read_them(filled: Filled, table: Table) -> None:
    stored = filled.stored[table.name]
    assert stored
    assert len({tuple(str(row[name]) for name in table.key) for row in stored}) == len(stored)
    assert_is_stored(filled.path / "gold" / table.name, table.schema, stored)


@pytest.mark.heavy
def test_days_that_changed_and_a_run_that_was_killed_give_what_all_of_silver_gives(
    filled: Filled, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Late rows and rows that become others are among them."""
    monkeypatch.setattr(gold_module, "STEPS", STEPS)
    lake, settings, rows = Lake.at(str(tmp_path)), _settings(tmp_path), silver_rows()
    ensure_tables(spark, lake, SOURCES.values(), TABLES)
    gold, chance = Gold(spark, lake, settings, ManualClock(END)), random.Random(3)
    first = {name: chance.sample(found, len(found) * 2 // 3) for name, found in rows.items()}
    for row in (row for found in first.values() for row in found if "closed_at" in row):
        row.update(was_open=(row.pop("closed_at"), row.pop("duration_ms")))
    for name, table in SOURCES.items():
        append(spark, lake, table, first[name])
    gold.catch_up()
    for row in (row for found in first.values() for row in found if "was_open" in row):
        row["closed_at"], row["duration_ms"] = row.pop("was_open")
    _store(spark, lake, rows)
    with monkeypatch.context() as patch:
        patch.setattr(gold_module, "STEPS", (STEPS[0], _Killed()))
        with pytest.raises(PySparkException):
            gold.catch_up()
    gold.catch_up()
    assert set(gold.catch_up().values()) == {0}
    frames = {name: frame(spark, table, rows[name]) for name, table in SOURCES.items()}
    made = whole(frames, settings)
    for table in TABLES:
        expected = made[table.name].collect()
        assert sorted(map(repr, filled.stored[table.name])) == sorted(map(repr, expected))
        assert_is_stored(tmp_path / "gold" / table.name, table.schema, expected)


def test_every_step_gives_its_table_what_the_catalogue_says(spark: SparkSession) -> None:
    """Those too that are left out above; of nothing, which costs no query."""
    frames = {name: spark.createDataFrame([], table.schema) for name, table in SOURCES.items()}
    made = whole(frames, _settings(Path("nowhere")))
    assert [step.table.name for step in gold_module.STEPS] == list(made)
    for step in gold_module.STEPS:
        types = {field.name: field.dataType for field in made[step.table.name].schema}
        assert types == {field.name: field.type for field in step.table.fields}


def test_what_has_not_changed_is_not_written_again(filled: Filled) -> None:
    assert set(filled.again.values()) == {0}


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


@pytest.mark.parametrize("unit", list(Unit), ids=lambda unit: unit.column)
def test_statuses_and_lags_are_those_of_a_recount(filled: Filled, unit: Unit) -> None:
    table = catalogue.STATUS[unit]
    for row in filled.stored[table.name]:
        begin = round(row[unit.column].timestamp() * 1000)
        held = _held(filled.rows, row["group"], begin, begin + unit.ms)
        assert held == {name: row[f"{name.lower()}_ms"] for name in held}
        lags = sorted(
            found["total_lag"]
            for key, found in {
                (found["at"], found["position"]): found
                for found in filled.rows["evaluations"]
                if found["group"] == row["group"]
                and begin <= found["at"].timestamp() * 1000 < begin + unit.ms
            }.items()
        )
        assert row["evaluations"] == len(lags)
        if lags:
            assert row["lag_p50"] == lags[-(-len(lags) // 2) - 1]
            assert row["lag_max"] == lags[-1]
            _is_sketch_of(lags, row["lag_sketch"])


def _is_sketch_of(values: list[int], sketch: list[Row]) -> None:
    told = [representative(entry["bucket"]) for entry in sketch for _ in range(entry["count"])]
    assert len(told) == len(values)
    for value, shown in zip(values, told, strict=True):
        assert abs(shown - value) <= ERROR * value + 1e-9


def _rows(filled: Filled, table: Table, **where: Any) -> list[Row]:
    found = [
        row
        for row in filled.stored[table.name]
        if all(row[name] == value for name, value in where.items())
    ]
    return sorted(found, key=lambda row: row["date"])


def test_incidents_are_counted_where_they_began(filled: Filled) -> None:
    rows = _rows(filled, catalogue.INCIDENT[Unit.DAY], group="billing")
    counts = [(row["opened"], row["closed"], row["short"], row["flapped"]) for row in rows]
    assert counts == [(1, 1, 0, 0), (2, 2, 1, 1), (1, 0, 0, 0)]
    assert [row["mttr_ms"] for row in rows] == [2 * HOUR, 32 * 60_000, None]
    assert all(row["mean_time_to_tell_ms"] == 2_000 for row in rows)
    assert all(0 <= row["mttd_ms"] <= HOUR for row in rows)


def test_channels_are_told_of_what_was_noise(filled: Filled) -> None:
    rows = _rows(filled, catalogue.ALERT[Unit.DAY], channel="mail")
    assert [(row["deliveries"], row["failures"]) for row in rows] == [(2, 2), (4, 4), (2, 2)]
    assert [(row["incidents"], row["short"], row["flapped"]) for row in rows] == [
        (2, 0, 0),
        (4, 2, 2),
        (2, 0, 0),
    ]


def test_a_group_that_is_behind_shows_how_fast_it_can_go(filled: Filled) -> None:
    rows = _rows(filled, catalogue.RATE[Unit.DAY], group="billing")
    assert len(rows) == DAYS
    assert max(row["pace_behind"] or 0 for row in rows) == 15.0
    assert [row["produce_peak"] for row in rows] == [10.0, 11.0, 12.0, 13.0]


def test_capacity_follows_the_trend(filled: Filled) -> None:
    """Produced: 10, 11, 12 and 13 records a second; consumed at best 15."""
    row = _rows(filled, catalogue.CAPACITY, group="billing")[-1]
    assert (row["days"], row["capacity"], row["level"], row["slope"]) == (4, 15.0, 13.0, 1.0)
    assert (row["crosses_in_days"], row["earliest_in_days"], row["latest_in_days"]) == (2, 2, 2)
    assert row["crosses_on"] == (at(START + 3 * DAY) + timedelta(days=2)).date()
    assert row["days_until_loss"] == pytest.approx(5, rel=0.05)


def test_objectives_are_counted_in_minutes(filled: Filled) -> None:
    lag = _rows(filled, catalogue.OBJECTIVE[Unit.DAY], group="billing", limit="max_lag")
    minutes = [row for row in filled.rows["group_minutes"] if row["group"] == "billing"]
    broken = sum(row["lag"] // 2 * 2 > 1000 for row in minutes)
    assert sum(row["broken"] for row in lag) == broken
    assert sum(row["minutes"] for row in lag) == len(minutes)
    budget = _rows(filled, catalogue.ERROR_BUDGETS, group="billing", limit="max_lag")[-1]
    assert budget["broken_30d"] == broken
    assert budget["budget_left"] == pytest.approx(1 - broken / (len(minutes) * 0.1))
    others = _rows(filled, catalogue.OBJECTIVE[Unit.DAY], group="a|b")
    assert {row["limit"] for row in others} == {"min_produce_rate", "min_time_to_loss"}
    assert all(row["burn_rate"] is None for row in others)
    assert all(
        row["attainment"] == (0.0 if row["limit"] == "min_produce_rate" else 1.0) for row in others
    )


@pytest.mark.heavy
def test_a_day_with_holes_is_made_again(
    filled: Filled, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, clock = Lake.at(str(filled.path)), ManualClock(END)
    rate_days = catalogue.RATE[Unit.DAY]
    own = (STATUS_DAYS, rate_days)
    monkeypatch.setattr(gold_module, "STEPS", [step for step in STEPS if step.table in own])
    days = [row["date"] for row in filled.stored[rate_days.name]]
    day = min(days)
    stored = {table: f"delta.`{lake.gold(table.name)}`" for table in own}
    of_day = f"date = DATE'{day}'"
    spark.sql(f"DELETE FROM {stored[STATUS_DAYS]} WHERE {of_day} AND `group` = 'billing'")
    spark.sql(f"UPDATE {stored[rate_days]} SET produce_peak = 1e9 WHERE {of_day}")
    written = Gold(spark, lake, _settings(filled.path), clock).catch_up([day])
    assert (written[STATUS_DAYS.name], written[rate_days.name]) == (1, days.count(day))
    for table in own:
        expected = filled.stored[table.name]
        assert_is_stored(filled.path / "gold" / table.name, table.schema, expected)


def _evaluation(number: int, moment: int | None = None) -> dict[str, Any]:
    """Each ten minutes one."""
    time = at(START + number * 10 * MINUTE if moment is None else moment)
    place = {"kafka_topic_id": "t", "kafka_partition": 0, "kafka_offset": number}
    own = {"cluster": "prod", "group": "billing", "at": time, "date": time.date()}
    told = {"status": "OK", "position": number, "total_lag": 1, "kafka_timestamp": time}
    return own | place | told


def _only_status_days(monkeypatch: pytest.MonkeyPatch) -> None:
    step = next(step for step in gold_module.STEPS if step.table is STATUS_DAYS)
    monkeypatch.setattr(gold_module, "STEPS", (step,))


@pytest.mark.heavy
def test_a_day_whose_events_are_over_is_kept_as_it_was(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that comes for such a day would be all that is left of it."""
    _only_status_days(monkeypatch)
    lake, clock = Lake.at(str(tmp_path)), ManualClock(END)
    ensure_tables(spark, lake, [EVALUATIONS], [STATUS_DAYS])
    append(spark, lake, EVALUATIONS, silver_rows()[EVALUATIONS.name])
    gold = Gold(spark, lake, _settings(tmp_path), clock)
    assert gold.catch_up() == {STATUS_DAYS.name: len(GROUPS) * DAYS}
    path = lake.silver(EVALUATIONS.name)
    spark.sql(f"DELETE FROM delta.`{path}` WHERE at < '{at(START + HOUR)}'")
    clock.advance(40 * DAY / 1000)
    assert gold.catch_up() == {STATUS_DAYS.name: 0}


@pytest.mark.heavy
def test_how_far_gold_has_come_is_as_far_as_was_archived(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for a minute; where nobody knows that, but for an interval of silver."""
    _only_status_days(monkeypatch)
    lake, settings = Lake.at(str(tmp_path)), _settings(tmp_path)
    ensure_tables(spark, lake, [EVALUATIONS], [STATUS_DAYS, catalogue.PROGRESS])
    append(spark, lake, EVALUATIONS, [_evaluation(1, END)])
    for archived, settled in ((None, END - 60_000), (END + 5, END + 5 - gold_module.LATE_MS)):
        Gold(spark, lake, settings, ManualClock(END), archived_ms=archived).catch_up()
        progress = spark.read.format("delta").load(lake.gold(catalogue.PROGRESS.name))
        (row,) = progress.where("until IS NOT NULL").select(F.unix_millis("until")).collect()
        assert row[0] == settled
        append(spark, lake, EVALUATIONS, [_evaluation(2, END)])


@pytest.mark.heavy
def test_a_slow_pass_says_how_far_it_has_read_while_silver_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where it says more than that, the next pass makes it true."""
    settings, lake, clock = _settings(tmp_path), Lake.at(str(tmp_path)), ManualClock(END)
    progress, count = lake.gold(catalogue.PROGRESS.name), F.sum("evaluations")
    first, then = [_evaluation(number) for number in range(6)], _evaluation(30)
    silver_went_on: list[bool] = []

    def until() -> int:
        (row,) = spark.read.format("delta").load(progress).where("until IS NOT NULL").collect()
        return round(row["until"].timestamp() * 1000)

    def evaluations() -> list[int]:
        return [
            spark.read.format("delta").load(lake.gold(step.table.name)).agg(count).collect()[0][0]
            for step in steps
        ]

    def slow(settings: Settings, rows: Any) -> Any:
        if not silver_went_on:
            silver_went_on.append(True)
            append(spark, lake, EVALUATIONS, [_evaluation(number) for number in range(6, 30)])
        return steps[1].make(settings, rows)

    steps = [step for step in gold_module.STEPS if step.table in catalogue.STATUS.values()]
    monkeypatch.setattr(gold_module, "STEPS", (steps[0], replace(steps[1], make=slow)))
    ensure_tables(spark, lake, [EVALUATIONS], catalogue.STATUS.values())
    append(spark, lake, EVALUATIONS, first)
    gold = Gold(spark, lake, settings, clock)
    gold.catch_up()
    assert (until(), evaluations()) == (first[-1]["at"].timestamp() * 1000, [6, 6])
    gold.catch_up()
    last = _evaluation(29)["at"].timestamp() * 1000
    assert (until(), evaluations()) == (last, [30, 30])
    spark.sql(f"UPDATE delta.`{progress}` SET until = '{at(END)}' WHERE until IS NOT NULL")
    append(spark, lake, EVALUATIONS, [then])
    gold.catch_up()
    assert (until(), evaluations()) == (then["at"].timestamp() * 1000, [31, 31])
