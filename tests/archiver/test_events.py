"""Rows of bronze, and the files that they are in."""

from datetime import UTC, datetime
from pathlib import Path

import duckdb
from pyspark.sql import SparkSession
from support.archive_events import TOPIC_ID
from warren_archiver.lake.lake import LATEST, Lake, events

YEAR_99999_MS = 3_093_527_980_800_000


def test_times_are_bounded_and_of_a_type_that_all_readers_of_parquet_know(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake.at(str(tmp_path))
    lake.ensure(spark)
    raw = spark.sql(
        "SELECT X'01' AS key, X'ff' AS value, 'warren.lag' AS topic, 3 AS partition, 7L AS offset,"
        f" timestamp_millis({YEAR_99999_MS}L) AS timestamp, 0 AS timestampType,"
        " array(named_struct('key', 'a', 'value', X'00')) AS headers"
    )
    events(raw, {"warren.lag": TOPIC_ID}).write.format("delta").mode("append").save(lake.events)
    table = lake.read(spark, lake.events)
    assert table is not None
    (row,) = table.collect()
    assert row["timestamp"].astimezone(UTC) == LATEST
    assert (row["topic_id"], [(each["key"], bytes(each["value"])) for each in row["headers"]]) == (
        TOPIC_ID, [("a", b"\0")],
    )  # fmt: skip
    assert row["date"] == datetime(9999, 12, 30).date()  # a day
    (file,) = table.inputFiles()
    query = "SELECT type, converted_type FROM parquet_schema(?) WHERE name = 'timestamp'"
    found = duckdb.execute(query, [file.removeprefix("file:")]).fetchall()
    assert found == [("INT64", "TIMESTAMP_MICROS")]
