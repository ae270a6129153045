"""Bronze: the records of all topics as Kafka has them, in one table. No contract is applied."""

from collections.abc import Mapping
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention

from warren_archiver.lake.catalogue import EVENTS

EVENTS_SCHEMA = EVENTS.schema
# What every reader of Parquet, and Python in every time zone, can show.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC)


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
