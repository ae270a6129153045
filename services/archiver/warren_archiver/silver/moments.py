"""Moments of time: milliseconds as timestamps, minutes, and in which order records came."""

from collections.abc import Sequence
from datetime import timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.events import EARLIEST, LATEST

SINGLE_MS = 600_000
"""After so long without an observation, what happened since is not said of one moment."""
_LATEST_MS = (LATEST - EARLIEST) // timedelta(milliseconds=1)  # a float would be a day later
RECORD_ORDER = ("kafka_timestamp", "kafka_topic_id", "kafka_partition", "kafka_offset")


def moment(milliseconds: Column) -> Column:
    """Of Unix milliseconds; the nearest that all readers can show. Null for negative ones, which
    stand for unknown."""
    within = F.least(milliseconds, F.lit(_LATEST_MS))
    return F.when(milliseconds >= int(EARLIEST.timestamp()), F.timestamp_millis(within))


def minute(at: Column) -> Column:
    return F.date_trunc("minute", at)


def once(rows: DataFrame, key: Sequence[str]) -> DataFrame:
    """Each key once, as it was published first."""
    published = Window.partitionBy(*key).orderBy(*RECORD_ORDER)
    return rows.withColumn("_n", F.row_number().over(published)).where("_n = 1").drop("_n")


def elapsed_ms(since: Column, until: Column) -> Column:
    return F.unix_millis(until) - F.unix_millis(since)


def known(value: Column) -> Column:
    """Contracts write -1 where nothing is known."""
    return F.when(value >= 0, value)
