"""Gaps in what was archived: offsets between rows that no table has, recorded when they are found.

Warren's producers are not transactional, so that every offset is a record: what is missing was
compacted away, or deleted, before it was archived.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import (
    BooleanType,
    DateType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

GAPS_SCHEMA = StructType(
    [
        StructField("kafka_topic", StringType()),
        StructField("kafka_partition", IntegerType()),
        StructField("first_offset", LongType()),
        StructField("last_offset", LongType()),
        StructField("before_archive", BooleanType()),
        StructField("found_at", TimestampType()),
        StructField("date", DateType()),
    ]
)


class Run(NamedTuple):
    """Consecutive offsets of a partition, and when the first of them was written, Unix seconds."""

    partition: int
    first: int
    last: int
    at: float


class Gap(NamedTuple):
    """Offsets of a partition that are not archived, both inclusive."""

    partition: int
    first: int
    last: int
    before_archive: bool
    """They are older than the archive: nobody was there to archive them."""

    @property
    def records(self) -> int:
        return self.last - self.first + 1


def runs(records: DataFrame) -> list[Run]:
    """Of records with Kafka's own columns. In a run of consecutive offsets the difference between
    an offset and its rank stays the same.
    """
    rank = F.expr("row_number() OVER (PARTITION BY partition ORDER BY offset)")
    found = (
        records.select("partition", "offset", "timestamp", (F.col("offset") - rank).alias("run"))
        .groupBy("partition", "run")
        .agg(F.min("offset"), F.max("offset"), F.min("timestamp").cast("double"))
        .collect()
    )
    return [Run(partition, first, last, at) for partition, _, first, last, at in found]


def gaps(
    found: Sequence[Run], starts: Mapping[int, int], ends: Mapping[int, int], began: float
) -> tuple[list[Gap], dict[int, int]]:
    """Between `starts` and `ends` (exclusive) of a batch, by partition. Where the start is not
    known, the first record is it. `began`: when the archive did, Unix seconds.

    Also where a partition goes on missing at its end: only the record that follows tells how old
    that gap is.
    """
    of_partition: dict[int, list[Run]] = defaultdict(list)
    for run in sorted(found):
        of_partition[run.partition].append(run)
    result, open_since = [], {}
    for partition, end in sorted(ends.items()):
        there = of_partition[partition]
        position = starts.get(partition, there[0].first if there else end)
        for run in there:
            if run.first > position:
                result.append(Gap(partition, position, run.first - 1, run.at < began))
            position = run.last + 1
        if position < end:
            open_since[partition] = position
    return result, open_since
