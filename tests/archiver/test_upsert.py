"""How rows get into a table."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from pyspark.sql import SparkSession
from warren_archiver.lake.lake import create
from warren_archiver.silver.catalogue import EVALUATION_PROGRESS
from warren_archiver.silver.upsert import upsert


def test_a_few_rows_are_one_file_however_many_tasks_made_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    path, table = str(tmp_path / "table"), EVALUATION_PROGRESS
    create(spark, path, table.schema, {}, "date")
    rows = [("id", place, 7, date(2026, 11, 21)) for place in range(8)]
    wanted = spark.createDataFrame(rows, table.schema).repartition(4)
    stored = spark.read.format("delta").load(path)
    assert upsert(spark, path, table, wanted, stored) == 8
    assert len(list(Path(path).rglob("*.parquet"))) == 1
    assert upsert(spark, path, table, wanted, spark.read.format("delta").load(path)) == 0
