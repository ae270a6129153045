"""Warren's topics as Spark reads them: Kafka's columns, headers included."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader
from warren.settings import Settings

from warren_archiver.streaming.kafka_options import kafka_options

FEW = 20_000  # records
_Reader = TypeVar("_Reader", DataFrameReader, DataStreamReader)


def stream(
    spark: SparkSession, settings: Settings, names: Collection[str], *, once: bool
) -> DataFrame:
    """From the topics' beginnings, or from the query's checkpoint. Unless it is to end `once` all
    is read, a few records wait for the fourth interval, so that they become fewer files."""
    archiver = settings.archiver
    reader = spark.readStream.format("kafka").option("maxOffsetsPerTrigger", archiver.batch_records)
    if not once:
        reader = reader.option("minOffsetsPerTrigger", min(FEW, archiver.batch_records))
        # Asked each interval: the fourth time it is over, however late the questions come.
        reader = reader.option("maxTriggerDelay", f"{round(archiver.interval * 3500)}ms")
    return _common(reader, settings, names).load()


def batch(spark: SparkSession, settings: Settings, names: Collection[str]) -> DataFrame:
    """All records that are there now."""
    return _common(spark.read.format("kafka"), settings, names).load()


def _common(reader: _Reader, settings: Settings, names: Collection[str]) -> _Reader:
    home = settings.home
    options = {f"kafka.{name}": value for name, value in kafka_options("home", home).items()}
    return reader.options(
        **options,
        **{
            "kafka.isolation.level": "read_committed",
            # Spark asks for what it knows to be there. A consumer that waits for more, the default
            # is half a second, delays Spark's next question on the same connection.
            "kafka.fetch.max.wait.ms": "1",
            # It asks again after each poll: for where the log begins and for where it ends.
            "kafka.max.poll.records": "4000",
            "groupIdPrefix": home.installation.group("archiver"),
            "subscribe": ",".join(names),
            "startingOffsets": "earliest",
            "includeHeaders": "true",
            # What retention took is no reason to stop: gaps are recorded.
            "failOnDataLoss": "false",
        },
    )
