"""Days of a table replaced: all of their rows or none."""

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.silver_rows import END, at, frame
from warren_archiver.gold.catalogue import STATUS
from warren_archiver.gold.gold import replace
from warren_archiver.gold.units import Unit
from warren_archiver.lake.lake import ensure, newest_version

pytestmark = pytest.mark.timeout(1800)
TABLE = STATUS[Unit.DAY]


def test_a_day_that_comes_out_otherwise_is_replaced_and_no_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path)
    ensure(spark, path, TABLE)
    day = at(END).date()
    before = day - timedelta(days=1)

    def rows(lag: int, *groups: str) -> list[dict[str, object]]:
        own = [
            {"cluster": "prod", "group": group, "day": at(END), "date": day, "lag_max": lag}
            for group in groups
        ]
        beginning = at(END) - timedelta(days=1)
        same = {"cluster": "prod", "group": "a", "day": beginning, "date": before, "lag_max": 1}
        return [*own, same]

    def put(lag: int, *groups: str) -> int:
        stored = spark.read.format("delta").load(path)
        return replace(path, TABLE, frame(spark, TABLE, rows(lag, *groups)), stored)

    def found() -> list[tuple[object, ...]]:
        stored = spark.read.format("delta").load(path).orderBy("date", "group")
        return [tuple(row) for row in stored.select("date", "group", "lag_max").collect()]

    assert put(7, "a", "b") == 3
    version = newest_version(spark, path)
    assert put(7, "a", "b") == 0
    assert newest_version(spark, path) == version
    of_before = spark.read.format("delta").load(path).where(f"date = DATE'{before}'").inputFiles()
    assert put(8, "a") == 1
    assert found() == [(before, "a", 1), (day, "a", 8)]
    assert set(of_before) <= set(spark.read.format("delta").load(path).inputFiles())
