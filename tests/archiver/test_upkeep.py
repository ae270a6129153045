"""Files do not become more and more."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from deltalake import DeltaTable as DeltaLog
from pyspark.sql import (
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from structlog.testing import capture_logs
from support.archive_lab import Archive, events_between
from support.few_tables import only
from support.manual_clock import ManualClock
from support.silver_rows import DAY as DAY_MS, END, START, frame, silver_rows
from warren.clock import SystemClock
from warren.settings import ArchiverSettings
from warren_archiver.gold.catalogue import VIEWED
from warren_archiver.lake.lake import Lake, ensure, newest_version
from warren_archiver.lake.table import Kept, Table
from warren_archiver.replay.replay import Replay, write
from warren_archiver.report.period import Period
from warren_archiver.silver.catalogue import GROUP_MINUTES, NOTIFICATIONS
from warren_archiver.steps import Step
from warren_archiver.streaming.upkeep import Upkeep, Upkept

pytestmark = pytest.mark.timeout(1800)


SMALL_FILES = "spark.databricks.delta.autoCompact.minNumFiles"


@pytest.fixture
def few_small_files(spark: SparkSession) -> Iterator[None]:
    """Four are too many already."""
    usual = spark.conf.get(SMALL_FILES)
    assert usual is not None
    spark.conf.set(SMALL_FILES, "4")
    yield
    spark.conf.set(SMALL_FILES, usual)


@pytest.mark.usefixtures("few_small_files")
def test_small_files_are_joined_and_upkeep_removes_what_is_over(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, *SILVER.values())
    for number in range(3):  # two files each
        lab.send(events_between(2 * number, 2 * number + 1), partition=0)
        lab.send(events_between(2 * number + 1, 2 * number + 2), partition=1)
        lab.once(writers=2)
    folder = Path(lab.settings.archiver.path) / "bronze" / "events"
    assert len(list(folder.rglob("date=*/*.parquet"))) > len(_files(lab)) < 6
    events = DeltaTable.forPath(lab.spark, lab.lake.events)
    events.update("offset = 0", {"date": F.lit("2026-01-01").cast("date")})
    kept = "delta.deletedFileRetentionDuration = 'interval 0 hours'"
    lab.spark.sql(f"ALTER TABLE delta.`{lab.lake.events}` SET TBLPROPERTIES ({kept})")
    old = {kept: _silver_of_long_ago(lab, table) for kept, table in SILVER.items()}
    with capture_logs() as logs:
        done = Upkeep(lab.spark, lab.lake, lab.settings.archiver, SystemClock()).run()
    dropped = {each.table: each.days_dropped for each in done if each.days_dropped}
    assert dropped == {"bronze/events": 1, f"silver/{GROUP_MINUTES.name}": 1}
    told = {each["table"]: each["last"] for each in logs if each["event"] == "days dropped"}
    assert told == {"events": "2026-01-01", GROUP_MINUTES.name: "2026-01-01"}
    assert [row["offset"] for row in lab.rows()] == [1, 2, 1, 2]
    assert len(list(folder.rglob("date=*/*.parquet"))) == len(_files(lab))
    left = {kept: lab.spark.read.format("delta").load(path).count() for kept, path in old.items()}
    assert left == {Kept.AS_MINUTES: 0, Kept.ALWAYS: 1}


SILVER = {table.kept: table for table in (GROUP_MINUTES, NOTIFICATIONS)}


def _silver_of_long_ago(lab: Archive, table: Table) -> str:
    """One row, and nothing in it but its day."""
    path = lab.lake.silver(table.name)
    ensure(lab.spark, path, table)
    row = frame(lab.spark, table, [{"date": date(2026, 1, 1)}])
    row.write.format("delta").mode("append").save(path)
    return path


def _files(lab: Archive) -> list[str]:
    table = lab.lake.read(lab.spark, lab.lake.events)
    assert table is not None
    return table.inputFiles()


def test_replays_are_joined_and_kept_as_long_as_minutes(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake, clock = Lake.at(str(tmp_path)), ManualClock(END - 200 * DAY_MS)
    replay = Replay(Period(START, END), 0, 1, [], [], [])
    write(spark, lake, replay, {}, clock)
    clock.advance(200 * DAY_MS / 1000)
    for _ in range(3):
        write(spark, lake, replay, {}, clock)
        clock.advance(1)
    kept = {each.table: each for each in Upkeep(spark, lake, ArchiverSettings(), clock).run()}
    assert kept["replay/runs"][1:3] == (4, 1)
    assert spark.read.format("delta").load(lake.replay("runs")).count() == 3


def test_the_first_pass_registers_all_tables_by_name(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that comes later gets its name with the next pass."""
    only(monkeypatch, GROUP_MINUTES, *VIEWED["capacity"])
    lab.send(events_between(0, 1))
    schema = f"warren_{lab.settings.home.topic_prefix.strip('.').replace('-', '_')}"
    try:
        lab.whole_pass(schema_name=schema)
        assert lab.spark.sql(f"SELECT offset FROM {schema}.events").count() == 1
        assert {"events", "gaps", "group_minutes"} <= _names(lab.spark, schema)
        assert lab.spark.sql(f"SELECT days FROM {schema}.capacity").count() == 0
        assert {"replay_runs", "error_budgets"}.isdisjoint(_names(lab.spark, schema))
        replay = Replay(Period(START, END), 0, 1, [], [], [])
        write(lab.spark, lab.lake, replay, {}, SystemClock())
        lab.whole_pass(schema_name=schema)
        assert lab.spark.sql(f"SELECT run FROM {schema}.replay_runs").count() == 1
    finally:
        lab.spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def _names(spark: SparkSession, schema: str) -> set[str]:
    return {row["tableName"] for row in spark.sql(f"SHOW TABLES IN {schema}").collect()}


def test_days_that_are_over_are_in_order_of_groups(spark: SparkSession, tmp_path: Path) -> None:
    """Once; a day that has changed since then, and the day that was not over then, once more."""
    lake, clock = Lake.at(str(tmp_path)), ManualClock(END - DAY_MS)
    path = lake.silver(GROUP_MINUTES.name)
    ensure(spark, path, GROUP_MINUTES)
    rows = silver_rows()[GROUP_MINUTES.name]
    for part in (rows[::2], rows[1::2]):
        frame(spark, GROUP_MINUTES, part).coalesce(1).write.format("delta").mode("append").save(
            path
        )
    newest = newest_version(spark, path)
    stored = DeltaLog(path.removeprefix("file:"), version=newest).file_uris()
    files = len(stored)
    upkeep = Upkeep(spark, lake, ArchiverSettings(), clock)
    told: list[Step] = []
    (done,) = upkeep.run(tell=told.append)
    assert told == [
        Step("upkeep", done.table.rpartition("/")[2], 0, 1),
        Step("upkeep", "", 1, 1),
    ]
    assert done == ("silver/group_minutes", files, files - 3, 3, 0)
    day = spark.read.format("delta").load(path).where(f"date = '{rows[0]['date']}'").collect()
    groups = [row["group"] for row in day]
    assert groups == sorted(groups)
    assert all(Path(file).exists() for file in stored), "readers of a version of before find it"
    assert len(day) == sum(row["date"] == rows[0]["date"] for row in rows)
    assert [each.days_in_order for each in upkeep.run()] == [0]
    clock.advance(DAY_MS / 1000)
    assert [each.days_in_order for each in upkeep.run()] == [1]


def test_who_does_one_pass_does_upkeep_once_a_day(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a new process: the lake says when it was done."""
    clock, ran = ManualClock(SystemClock().now_ms()), []
    day, began = DAY_MS / 1000, clock.now_ms() / 1000

    def keep(_: Upkeep, path: str, __: Kept) -> Upkept:
        if path == lab.lake.events:
            ran.append(clock.now_ms())
        return Upkept(path, 0, 0, 0, 0)

    def look() -> None:
        Upkeep(lab.spark, lab.lake, lab.settings.archiver, clock).look()

    only(monkeypatch)
    monkeypatch.setattr(Upkeep, "_keep", keep)
    monkeypatch.setattr(Lake, "began", lambda *_: began)
    began += day  # it is about to be midnight
    lab.whole_pass()
    assert ran == [], "there is nothing to keep on the first day"
    began -= 2 * day
    lab.whole_pass()
    first = clock.now_ms()
    assert ran == [first]
    look()
    clock.advance(day)
    look()
    look()
    assert [round((at - first) / DAY_MS) for at in ran] == [0, 1]
