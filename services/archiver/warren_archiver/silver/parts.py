"""Events in parts that fit into memory.

A file's size says little: events that are alike take 20 bytes each, and 450 once they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import StructField, StructType

from warren_archiver.silver.table import SMALL, TEXT, WHOLE

MOST_BYTES = 128 * 2**20
"""Of values. The default heap of 1 GB has room for them, and for what is made of them."""
_PLACE = ("topic", "topic_id", "partition")
_SPAN = StructType(
    [
        StructField("topic", TEXT),
        StructField("topic_id", TEXT),
        StructField("partition", SMALL),
        StructField("_first", WHOLE),
        StructField("_count", WHOLE),
    ]
)


class Part(NamedTuple):
    """Rows of bronze, and the names of the topics that they may be of."""

    events: DataFrame
    topics: set[str]
    number: int = 0
    of: int = 1


def in_parts(events: DataFrame, most_bytes: int = MOST_BYTES) -> Iterator[Part]:
    """Each row once; of each partition the earlier ones in the first part, and so on."""
    first, last = F.min("offset"), F.max("offset")
    spans = (
        events.groupBy(*_PLACE)
        .agg(first.alias("first"), last.alias("last"), F.sum(F.length("value")).alias("bytes"))
        .collect()
    )
    parts = -(-sum(span["bytes"] or 0 for span in spans) // most_bytes)
    topics = {span["topic"] for span in spans}
    if parts <= 1:
        yield Part(events, topics)
        return
    rows = [(*span[:3], span["first"], span["last"] - span["first"] + 1) for span in spans]
    known = F.broadcast(events.sparkSession.createDataFrame(rows, _SPAN))
    part = F.expr(f"(offset - _first) * {parts} DIV _count")
    numbered = events.join(known, list(_PLACE)).withColumn("_part", part)
    for number in range(parts):
        of_part = numbered.where(F.col("_part") == number)
        yield Part(of_part.select(*events.columns), topics, number, parts)
