"""Rows of the table of events, as many at a time as there is room for."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812  # Spark's own convention
)

from warren_archiver.lake.lake import text

MOST_BYTES = 128 * 2**20
"""Of values. The default heap of 1 GB has room for them, and for what is made of them."""


class Span(NamedTuple):
    """Offsets of a partition, both inclusive."""

    topic: str
    topic_id: str
    partition: int
    first: int
    last: int

    def condition(self, prefix: str = "") -> str:
        """`prefix`: of the columns' names."""
        return (
            f"({prefix}topic = {text(self.topic)} AND {prefix}topic_id = {text(self.topic_id)} AND "
            f"{prefix}partition = {self.partition} AND "
            f"{prefix}offset BETWEEN {self.first} AND {self.last})"
        )


class Part(NamedTuple):
    """Rows, where they lie, about how many they are."""

    events: DataFrame
    spans: list[Span]
    rows: int
    number: int = 0
    of: int = 1


def within(spans: Iterable[Span], prefix: str = "") -> str:
    """A condition."""
    return " OR ".join(each.condition(prefix) for each in spans) or "false"


def spans_of(events: DataFrame) -> tuple[list[Span], int, int]:
    """Where rows lie, how many they are, and bytes of their values."""
    found = (
        events.groupBy("topic", "topic_id", "partition")
        .agg(
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
            F.sum(F.length("value")).alias("bytes"),
            F.count(F.lit(1)).alias("rows"),
        )
        .collect()
    )
    spans = [Span(row[0], row[1], row[2], row[3], row[4]) for row in found]
    return spans, sum(row["rows"] for row in found), sum(row["bytes"] or 0 for row in found)


def in_parts(events: DataFrame, most_bytes: int = MOST_BYTES) -> Iterator[Part]:
    """Each row once; of each partition the earlier ones in the first part, and so on. All that
    lie between them are among them."""
    spans, rows, size = spans_of(events)
    parts = -(-size // most_bytes)
    if parts <= 1:
        yield Part(events, spans, rows)
        return
    for number in range(parts):
        own = [
            each._replace(
                first=each.first + count * number // parts,
                last=each.first + count * (number + 1) // parts - 1,
            )
            for each in spans
            for count in [each.last - each.first + 1]
        ]
        own = [each for each in own if each.first <= each.last]
        yield Part(events.where(within(own)), own, rows // parts, number, parts)
