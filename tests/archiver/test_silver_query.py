"""The query into silver: what is archived is taken in, once, whatever happens."""

import shutil
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from support.archive_lab import Archive, events_between
from support.few_tables import OF_OFFSETS, STATUS_HOURS, only_silver, only_status_hours
from support.manual_clock import ManualClock
from warren.clock import SystemClock
from warren.contracts.topics import OFFSETS
from warren_archiver.errors import ArchiveFailed
from warren_archiver.gold.catalogue import PROGRESS
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.table import Table
from warren_archiver.silver.catalogue import EVALUATIONS, GROUP_MINUTES, POSITIONS
from warren_archiver.silver.evaluations import Evaluations
from warren_archiver.streaming.silver_query import SilverQuery

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(autouse=True)
def _few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    only_silver(monkeypatch, *OF_OFFSETS)
    only_status_hours(monkeypatch)


def _stored(spark: SparkSession, lake: Lake, table: Table) -> DataFrame:
    return spark.read.format("delta").load(lake.silver(table.name))


def test_what_is_archived_is_in_silver_once_and_gold_follows(lab: Archive) -> None:
    """Though whoever was there before was killed while it created the tables."""
    _leave_half_made(lab.lake)
    lab.send([*events_between(0, 10), b"not an event"])
    lab.once(silver_interval=600)
    lab.forget_silvers_last_batch()
    lab.send(events_between(10, 20), partition=1)
    lab.once(silver_interval=600, gold_interval=600)
    (hour,) = lab.spark.read.format("delta").load(lab.lake.gold("status_hours")).collect()
    assert (hour["evaluations"], hour["lag_max"]) == (20, 3)
    positions = _stored(lab.spark, lab.lake, POSITIONS)
    rows = positions.where("partition = 0").orderBy("at").collect()
    assert [row["position"] for row in rows] == list(range(20))
    assert [row["consumed"] for row in rows] == [None, *[1] * 19]
    (minute,) = _stored(lab.spark, lab.lake, GROUP_MINUTES).collect()
    evaluations = _stored(lab.spark, lab.lake, EVALUATIONS).orderBy("at").collect()
    assert [(row["position"], row["status"]) for row in evaluations] == [
        (position, "OK") for position in range(20)
    ]
    assert (minute["consumed"], minute["lag"], minute["partitions"]) == (19, 3, 2)


def _leave_half_made(lake: Lake) -> None:
    """Leave only the folders that Spark and Delta create before they have written anything."""
    shutil.rmtree(lake.root.removeprefix("file:"))
    bronze = (lake.events, lake.gaps)
    silver = (lake.silver(table.name) for table in OF_OFFSETS)
    gold = (lake.gold(table.name) for table in (STATUS_HOURS, PROGRESS))
    checkpoints = (
        f"{path}/{of}"
        for path in (lake.silver_checkpoint,)
        for of in ("offsets", "commits", "sources/0")
    )
    for path in (*(f"{table}/_delta_log" for table in (*bronze, *silver, *gold)), *checkpoints):
        Path(path.removeprefix("file:")).mkdir(parents=True)


def test_silver_takes_all_in_again_where_it_has_read_another_table(
    lab: Archive, tmp_path: Path
) -> None:
    """As where a disk was full, the table of events comes from a backup, or was made anew."""
    root = Path(lab.settings.archiver.path)
    bronze, checkpoint = root / "bronze", root / "checkpoints" / "silver"

    def take_in(start: int) -> None:
        lab.send(events_between(start, start + 10))
        lab.once(silver_interval=600)
        positions = _stored(lab.spark, lab.lake, POSITIONS).where("partition = 0")
        rows = positions.orderBy("at").collect()
        assert [row["position"] for row in rows] == list(range(start + 10))

    def put_back(part: Path) -> None:
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(tmp_path / part.name, part)

    query = SilverQuery(lab.spark, lab.lake, lab.settings, [OFFSETS], SystemClock())
    take_in(0)
    shutil.copytree(bronze, tmp_path / "bronze")
    take_in(10)
    query.find_checkpoint()
    assert checkpoint.exists(), "it has read this table"
    shutil.copytree(checkpoint, tmp_path / "silver")
    newest = max((checkpoint / "offsets").glob("[0-9]*"), key=lambda file: int(file.name))
    newest.write_text("")
    query.find_checkpoint()
    assert not checkpoint.exists()
    put_back(checkpoint)
    put_back(bronze)
    query.find_checkpoint()
    assert not checkpoint.exists()
    put_back(checkpoint)
    shutil.rmtree(bronze)
    take_in(20)


def test_a_pass_that_could_not_judge_says_so_once_all_else_is_done(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Evaluations, __: object) -> int:
        raise PySparkException("beyond 64 bits")

    lab.send(events_between(0, 1))
    with monkeypatch.context() as failing:
        failing.setattr(Evaluations, "catch_up", fail)
        with pytest.raises(ArchiveFailed, match="could not be judged again: beyond 64 bits"):
            lab.once(silver_interval=600, gold_interval=600)
    assert _stored(lab.spark, lab.lake, GROUP_MINUTES).count() == 1
    lab.send(events_between(1, 2))
    lab.once(silver_interval=600)
    assert _stored(lab.spark, lab.lake, EVALUATIONS).count() == 2


def _remove_what_was_joined(lab: Archive) -> None:
    """As upkeep does after a week."""
    DeltaTable.forPath(lab.spark, lab.lake.events).optimize().executeCompaction()
    live = {
        Path(unquote(urlsplit(file).path))
        for file in lab.spark.read.format("delta").load(lab.lake.events).inputFiles()
    }
    files = set((Path(lab.settings.archiver.path) / "bronze" / "events").rglob("*.parquet"))
    assert live < files
    for file in files - live:
        file.unlink()


def test_silver_that_was_off_for_longer_than_versions_are_kept_takes_all_in_again(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it would read next was joined with other files, and is removed."""
    taken: list[int] = []

    def note(_: SilverQuery, events: DataFrame, __: int) -> None:
        taken.extend(row["offset"] for row in events.collect())

    def take(*, days_later: float = 0) -> list[int]:
        taken.clear()
        clock = ManualClock(SystemClock().now_ms())
        clock.advance(days_later * 86_400)
        query = SilverQuery(lab.spark, lab.lake, lab.settings, [OFFSETS], clock)
        query.take(threading.Event())
        return sorted(taken)

    monkeypatch.setattr(SilverQuery, "_take", note)
    lab.send(events_between(0, 5))
    lab.once()
    assert take() == list(range(5))
    lab.send(events_between(5, 10))
    lab.once()
    _remove_what_was_joined(lab)
    with pytest.raises(PySparkException):
        take(days_later=6)
    assert take(days_later=7) == list(range(10))
    assert take(days_later=14) == [], "there is nothing to read"
