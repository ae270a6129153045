"""A topic's events by their contract: accepted ones with its columns, refused ones as raw bytes.

Computed from bronze whenever it is asked for: a field that is new to the contract has values for
all that was archived before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame
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
        StructField("kafka_topic_id", StringType()),
        StructField("kafka_partition", IntegerType()),
        StructField("kafka_offset", LongType()),
        StructField("kafka_timestamp", TimestampType()),
        StructField("kafka_key", BinaryType()),
    ]
)
_DATE = StructField("date", DateType())
_DELETED = StructField("deleted", BooleanType())

REFUSED_SCHEMA = StructType(
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


class ContractView:
    """What becomes of the records of one topic. Needs a session: columns are built once, as that
    takes Python longer than a small batch takes Spark.

    `deleted` is true in a tombstone's row, which has no other column of the contract, and wherever
    the event itself says so. `date` is the UTC day of kafka_timestamp.
    """

    def __init__(self, topic: Topic) -> None:
        contract = struct_of(topic.event)
        text, event, value = F.col("value").cast("string"), F.col("event"), F.col("value")
        parsed = stored(contract).add(MALFORMED, StringType())
        # Bronze's column names to those of the view, beside a contract's own.
        self._parsed = [
            *[F.col(name.removeprefix("kafka_")).alias(name) for name in COORDINATES.names],
            value,
            F.from_json(text, parsed, _PARSER).alias("event"),
        ]
        self._judged = [F.col("*"), reason(text, event, contract, versions(topic.event))]
        self._judged[-1] = self._judged[-1].alias("reason")
        self._is_accepted, self._is_refused = F.col("reason").isNull(), F.col("reason").isNotNull()
        own = {field.name: event[field.name] for field in contract.fields}
        deleted = F.coalesce(own.pop(_DELETED.name, value.isNull()), value.isNull())
        kept = [F.col(name) for name in COORDINATES.names]
        date = F.to_date("kafka_timestamp").alias(_DATE.name)
        columns = [column.alias(name) for name, column in own.items()]
        self._row = [*kept, deleted.alias(_DELETED.name), *columns, date]
        self._refused_row = [*kept, F.col("reason"), value, date]

    def parse(self, raw: DataFrame) -> DataFrame:
        """Bronze's columns to the coordinates, `value`, `event` and `reason`."""
        return raw.select(*self._parsed).select(*self._judged)

    def accepted(self, parsed: DataFrame) -> DataFrame:
        """Rows with the contract's columns."""
        return parsed.where(self._is_accepted).select(*self._row)

    def refused(self, parsed: DataFrame) -> DataFrame:
        """What contradicts the contract, and why."""
        return parsed.where(self._is_refused).select(*self._refused_row)


def view_schema(topic: Topic) -> StructType:
    """Columns of a topic's accepted events."""
    contract = stored(struct_of(topic.event))
    own = [field for field in contract if field.name != _DELETED.name]
    return StructType([*COORDINATES.fields, _DELETED, *own, _DATE])


def accepted(events: DataFrame, topic: Topic) -> DataFrame:
    """A topic's events in bronze, with its contract's columns."""
    view = ContractView(topic)
    return view.accepted(view.parse(events))


def quarantine(events: DataFrame, topics: Mapping[str, Topic]) -> DataFrame:
    """What contradicts its contract, and why; `topics` by name."""
    refused = []
    for name, topic in topics.items():
        view = ContractView(topic)
        refused.append(view.refused(view.parse(events.where(F.col("topic") == name))))
    return reduce(DataFrame.union, refused)
