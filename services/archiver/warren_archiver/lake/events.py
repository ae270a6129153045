"""Bronze: the records of all topics as Kafka has them, in one table. No contract is applied."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.catalogue import EVENTS

EVENTS_SCHEMA = EVENTS.schema
# What every reader of Parquet, and Python in every time zone, can show.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC)
LATEST_MS = (LATEST - EARLIEST) // timedelta(milliseconds=1)  # a float would be a day later
SINGLE_MS = 600_000
"""After so long without an observation, what happened since is not said of one moment."""


def moment(milliseconds: Column) -> Column:
    """Of Unix milliseconds; the nearest that all readers can show. Null for negative ones, which
    stand for unknown."""
    within = F.least(milliseconds, F.lit(LATEST_MS))
    return F.when(milliseconds >= 0, F.timestamp_millis(within))


def bounded(moment: Column) -> Column:
    """The moment, or the nearest that is within EARLIEST and LATEST; null where it is null."""
    nearest = F.least(F.greatest(moment, F.lit(EARLIEST)), F.lit(LATEST))
    return F.when(moment.isNotNull(), nearest)


def events(raw: DataFrame, ids: Mapping[str, str]) -> DataFrame:
    """Rows of the table from Kafka's columns, headers included. `ids`: of all topics, by name."""
    pairs = [F.lit(text) for pair in ids.items() for text in pair]
    timestamp = bounded(F.col("timestamp"))
    return raw.select(
        "topic",
        F.create_map(*pairs)[F.col("topic")].alias("topic_id"),
        "partition",
        "offset",
        timestamp.alias("timestamp"),
        "key",
        "value",
        "headers",
        F.to_date(timestamp).alias("date"),
    )
