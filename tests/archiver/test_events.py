"""Rows of bronze, and the files that they are in."""

from datetime import UTC, datetime
from pathlib import Path

import duckdb
from pyspark.sql import DataFrame, SparkSession
from support.archive_events import KAFKA_SCHEMA, TOPIC_ID
from warren_archiver.lake.events import EVENTS_SCHEMA, LATEST, events
from warren_archiver.lake.lake import Lake

YEAR_99999_MS = 3_093_527_980_800_000


def _record(spark: SparkSession, timestamp: str) -> DataFrame:
    name = "'warren.lag'"
    return spark.sql(
        f"SELECT X'01' AS key, X'ff' AS value, {name} AS topic, 3 AS partition, 7L AS offset,"
        f" {timestamp} AS timestamp, 0 AS timestampType,"
        " array(named_struct('key', 'a', 'value', X'00')) AS headers"
    )


def test_a_row_is_the_record_with_its_topics_id_and_its_day(spark: SparkSession) -> None:
    raw = _record(spark, "timestamp'2026-11-21T23:59:59.999Z'")
    assert (
        raw.schema.simpleString() == spark.createDataFrame([], KAFKA_SCHEMA).schema.simpleString()
    )
    rows = events(raw, {"warren.lag": TOPIC_ID, "other": "x"})
    assert rows.schema.simpleString() == EVENTS_SCHEMA.simpleString()
    (row,) = rows.collect()
    assert (row["topic"], row["topic_id"], row["partition"]) == ("warren.lag", TOPIC_ID, 3)
    assert (row["offset"], bytes(row["key"]), bytes(row["value"])) == (7, b"\x01", b"\xff")
    assert [(header["key"], bytes(header["value"])) for header in row["headers"]] == [("a", b"\0")]
    assert str(row["date"]) == "2026-11-21"


def test_times_are_bounded_and_of_a_type_that_all_readers_of_parquet_know(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake.at(str(tmp_path))
    lake.ensure(spark)
    raw = _record(spark, f"timestamp_millis({YEAR_99999_MS}L)")
    events(raw, {"warren.lag": TOPIC_ID}).write.format("delta").mode("append").save(lake.events)
    table = lake.read(spark, lake.events)
    assert table is not None
    (row,) = table.collect()
    assert row["timestamp"].astimezone(UTC) == LATEST
    assert row["date"] == datetime(9999, 12, 30).date()  # a day
    (file,) = table.inputFiles()
    query = "SELECT type, converted_type FROM parquet_schema(?) WHERE name = 'timestamp'"
    found = duckdb.execute(query, [file.removeprefix("file:")]).fetchall()
    assert found == [("INT64", "TIMESTAMP_MICROS")]
