"""Kafka records to rows: bronze rows have a contract's columns, rejected ones the raw bytes."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DateType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)
from warren.contracts.topics import Topic

from warren_archiver.lake.schemas import stored, struct_of, versions
from warren_archiver.lake.validity import MALFORMED, reason

COORDINATES = StructType(
    [
        StructField("kafka_topic", StringType()),
        StructField("kafka_partition", IntegerType()),
        StructField("kafka_offset", LongType()),
        StructField("kafka_timestamp", TimestampType()),
        StructField("kafka_key", BinaryType()),
    ]
)
_DATE = StructField("date", DateType())
_DELETED = StructField("deleted", BooleanType())

REJECTED_SCHEMA = StructType(
    [
        *COORDINATES.fields,
        StructField("reason", StringType()),
        StructField("value", BinaryType()),
        _DATE,
    ]
)
_PARSER = {
    "columnNameOfCorruptRecord": MALFORMED,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}


class Bronze:
    """What becomes of the records of one topic. Needs a session: columns are built once, as that
    takes Python longer than a small batch takes Spark.

    `deleted` is true in a tombstone's row, which has no other column of the contract, and wherever
    the event itself says so. `date` is the UTC day of kafka_timestamp.
    """

    def __init__(self, topic: Topic) -> None:
        contract = struct_of(topic.event)
        text, event, value = F.col("value").cast("string"), F.col("event"), F.col("value")
        parsed = stored(contract).add(MALFORMED, StringType())
        self._parsed = [*_coordinates(), value, F.from_json(text, parsed, _PARSER).alias("event")]
        self._judged = [F.col("*"), reason(text, event, contract, versions(topic.event))]
        self._judged[-1] = self._judged[-1].alias("reason")
        self._accepted, self._refused = F.col("reason").isNull(), F.col("reason").isNotNull()
        own = {field.name: event[field.name] for field in contract.fields}
        deleted = F.coalesce(own.pop(_DELETED.name, value.isNull()), value.isNull())
        kept = [F.col(name) for name in COORDINATES.names]
        date = F.to_date("kafka_timestamp").alias(_DATE.name)
        columns = [column.alias(name) for name, column in own.items()]
        self._row = [*kept, deleted.alias(_DELETED.name), *columns, date]
        self._rejected_row = [*kept, F.col("reason"), value, date]

    def parse(self, raw: DataFrame) -> DataFrame:
        """Kafka's columns to the coordinates, `value`, `event` and `reason`."""
        return raw.select(*self._parsed).select(*self._judged)

    def rows(self, parsed: DataFrame) -> DataFrame:
        """Rows of the table."""
        return parsed.where(self._accepted).select(*self._row)

    def rejected(self, parsed: DataFrame) -> DataFrame:
        """Rows of the quarantine."""
        return parsed.where(self._refused).select(*self._rejected_row)


def table_schema(topic: Topic) -> StructType:
    """Columns of a topic's table."""
    contract = stored(struct_of(topic.event))
    own = [field for field in contract if field.name != _DELETED.name]
    return StructType([*COORDINATES.fields, _DELETED, *own, _DATE])


def _coordinates() -> list[Column]:
    """The Kafka source's own column names to ours."""
    return [F.col(name.removeprefix("kafka_")).alias(name) for name in COORDINATES.names]
