"""The catalogue of bronze tables: docs/tables.md is made from it."""

from pyspark.sql.types import ArrayType, StructField, StructType

from warren_archiver.lake.table import BYTES, DAY, SMALL, TEXT, TIME, WHOLE, Field, Kept, Table

_TOPIC = (
    Field("topic", TEXT, "The topic"),
    Field("topic_id", TEXT, "Its id: another one when it was deleted and created again"),
)
_PARTITION = Field("partition", SMALL, "Its partition")

EVENTS = Table(
    "events",
    "The records of all of Warren's topics, as Kafka has them. No contract is applied.",
    ("topic", "topic_id", "partition", "offset"),
    (
        *_TOPIC,
        _PARTITION,
        Field("offset", WHOLE, "The record's offset"),
        Field("timestamp", TIME, "When the record was appended"),
        Field("key", BYTES, "Its key", null="for none"),
        Field("value", BYTES, "Its value", null="for a tombstone"),
        Field(
            "headers",
            ArrayType(StructType([StructField("key", TEXT), StructField("value", BYTES)])),
            "Names and values of its headers",
            null="for none",
        ),
        Field("date", DAY, "UTC day of `timestamp`"),
    ),
    Kept.AS_EVENTS,
)

GAPS = Table(
    "gaps",
    "Offsets that are not archived: they were gone before, or are from before the archive.",
    ("topic", "topic_id", "partition", "from"),
    (
        *_TOPIC,
        _PARTITION,
        Field("from", WHOLE, "The first offset"),
        Field("to", WHOLE, "The last one", null="unknown, as the topic was deleted"),
        Field("cause", TEXT, "retention, compaction, topic_made_anew or before_archive"),
        Field("found_at", TIME, "When it was found"),
    ),
)

TABLES: tuple[Table, ...] = (EVENTS, GAPS)
