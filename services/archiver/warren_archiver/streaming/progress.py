"""What Spark says of a batch that it has ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.streaming.query import StreamingQuery

from warren_archiver.lake.gaps import Place

ROWS = "rows"
"""The name under which rows are counted while they are written."""


class Progress(NamedTuple):
    """Offsets are exclusive, by topic and partition. Of a batch that found nothing new the starts
    are the ends.
    """

    at: str
    """ISO 8601; later progress has a greater one."""
    batch: int
    starts: Mapping[Place, int] | None
    """None for the first batch of all."""
    ends: Mapping[Place, int]
    latest: Mapping[Place, int]
    """Log ends, as Spark saw them when it planned the batch."""
    rows: Mapping[str, int]
    """Written, by topic; empty for a batch that the table had already."""
    seconds: float

    @property
    def found_nothing(self) -> bool:
        return self.starts == self.ends

    @classmethod
    def of(cls, text: str) -> Progress:
        """From Spark's own JSON."""
        told: dict[str, Any] = json.loads(text)
        source = told["sources"][0]
        starts = source["startOffset"]
        return cls(
            at=told["timestamp"],
            batch=told["batchId"],
            starts=None if starts is None else _places(starts),
            ends=_places(source["endOffset"] or {}),
            latest=_places(source["latestOffset"] or {}),
            rows=told.get("observedMetrics", {}).get(ROWS, {}),
            seconds=told.get("durationMs", {}).get("triggerExecution", 0) / 1000,
        )


def row_counters(topics: Iterable[str]) -> list[Column]:
    """Of rows of each topic, for Spark's `observe`."""
    return [F.count(F.when(F.col("topic") == name, 1)).alias(name) for name in topics]


def newer_than(query: StreamingQuery, at: str) -> list[Progress]:
    """All that Spark remembers, in order.

    As JSON, a call to Java each: pyspark's own way makes one for each field.
    """
    spark = query._jsq
    last = spark.lastProgress()
    if last is None or last.timestamp() <= at:
        return []
    return [Progress.of(p.json()) for p in spark.recentProgress() if p.timestamp() > at]


def _places(offsets: Mapping[str, Mapping[str, int]]) -> dict[Place, int]:
    return {
        (topic, int(partition)): offset
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }
