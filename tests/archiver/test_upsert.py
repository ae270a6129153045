"""How rows get into a table, also beside somebody else who writes the same ones."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.silver_rows import END, at, frame
from warren_archiver.lake.lake import ensure
from warren_archiver.silver import upsert as upsert_module
from warren_archiver.silver.catalogue import EVALUATION_PROGRESS, GROUP_MINUTES
from warren_archiver.silver.upsert import upsert

pytestmark = pytest.mark.timeout(1800)


def test_rows_that_somebody_else_adds_meanwhile_are_there_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a backfill does, between what the archiver reads and what it writes."""
    path = str(tmp_path)
    ensure(spark, path, GROUP_MINUTES)
    own = {"cluster": "prod", "minute": at(END), "date": at(END).date(), "lag": 7}
    rows = frame(spark, GROUP_MINUTES, [own | {"group": name} for name in ("a", "b", "c")])

    def put(of: Any) -> int:
        stored = spark.read.format("delta").load(path)
        return upsert(spark, path, GROUP_MINUTES, of, stored)

    compare = upsert_module.with_stored

    def be_late(*frames: Any) -> Any:
        monkeypatch.setattr(upsert_module, "with_stored", compare)
        found = compare(*frames).localCheckpoint()
        assert put(rows.where("`group` < 'c'")) == 2
        return found

    monkeypatch.setattr(upsert_module, "with_stored", be_late)
    put(rows)
    stored = spark.read.format("delta").load(path).select("group").collect()
    assert sorted(row["group"] for row in stored) == ["a", "b", "c"]
    assert put(rows) == 0


def test_a_few_rows_are_one_file_however_many_tasks_made_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    path, table = str(tmp_path / "table"), EVALUATION_PROGRESS
    ensure(spark, path, table)
    rows = [("id", place, 7, date(2026, 11, 21)) for place in range(8)]
    wanted = spark.createDataFrame(rows, table.schema).repartition(4)
    stored = spark.read.format("delta").load(path)
    assert upsert(spark, path, table, wanted, stored) == 8
    assert len(list(Path(path).rglob("*.parquet"))) == 1
    assert upsert(spark, path, table, wanted, spark.read.format("delta").load(path)) == 0
