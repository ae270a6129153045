"""Gaps in what was archived: offsets between rows that the table lacks, recorded when found.

Warren's producers are not transactional, so that every offset is a record: what is missing was
compacted away, or deleted, before it was archived.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import NamedTuple

from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812  # Spark's own convention
)

from warren_archiver.lake.catalogue import GAPS
from warren_archiver.lake.offset_ranges import OffsetRanges

GAPS_SCHEMA = GAPS.schema
Place = tuple[str, int]
"""Topic and partition."""


class Cause(StrEnum):
    """Why offsets are not in the table."""

    BEFORE_ARCHIVE = "before_archive"
    """They are older than the archive: nobody was there to archive them."""
    RETENTION = "retention"
    """The log begins after them now."""
    COMPACTION = "compaction"
    TOPIC_MADE_ANEW = "topic_made_anew"
    """The topic was deleted: how many records followed the archived ones is not known."""


class Run(NamedTuple):
    """Consecutive offsets of a partition, and when the first of them was written, Unix seconds."""

    place: Place
    first: int
    last: int
    at: float


class Gap(NamedTuple):
    """Offsets of a partition that are not archived, both inclusive."""

    place: Place
    first: int
    last: int
    before_archive: bool

    @property
    def records(self) -> int:
        return self.last - self.first + 1

    def cause(self, log_start: int) -> Cause:
        """`log_start`: where the partition's log begins now."""
        if self.before_archive:
            return Cause.BEFORE_ARCHIVE
        return Cause.RETENTION if self.last < log_start else Cause.COMPACTION


def at_ends(
    open_since: Mapping[Place, int], ends: Mapping[Place, int], logs: Mapping[Place, int]
) -> list[Gap]:
    """What partitions went on missing at their ends that retention took: their `logs` begin after
    that now."""
    return [
        Gap(place, at, ends[place] - 1, before_archive=False)
        for place, at in open_since.items()
        if logs.get(place, 0) >= ends[place]
    ]


def unrecorded(
    found: Sequence[Gap], recorded: Mapping[Place, Sequence[tuple[int, int]]]
) -> list[Gap]:
    """What of these gaps is not among the ranges [start, end) that are recorded. A topic that was
    compacted has thousands of both: they are compared as sets."""
    ranges: defaultdict[tuple[Place, bool], list[tuple[int, int]]] = defaultdict(list)
    for gap in found:
        ranges[gap.place, gap.before_archive].append((gap.first, gap.last + 1))
    known = {place: OffsetRanges.of(each) for place, each in recorded.items()}
    return [
        Gap(place, first, end - 1, before_archive)
        for (place, before_archive), each in ranges.items()
        for first, end in (OffsetRanges.of(each) - known.get(place, OffsetRanges())).ranges
    ]


def runs(events: DataFrame) -> list[Run]:
    """Of rows of the table. In a run of consecutive offsets the difference between an offset and
    its rank stays the same.
    """
    rank = F.expr("row_number() OVER (PARTITION BY topic, partition ORDER BY offset)")
    found = (
        events.select(
            "topic", "partition", "offset", "timestamp", (F.col("offset") - rank).alias("run")
        )
        .groupBy("topic", "partition", "run")
        .agg(F.min("offset"), F.max("offset"), F.min("timestamp").cast("double"))
        .collect()
    )
    return [Run((topic, place), first, last, at) for topic, place, _, first, last, at in found]


def gaps(
    found: Sequence[Run], starts: Mapping[Place, int], ends: Mapping[Place, int], began: float
) -> tuple[list[Gap], dict[Place, int]]:
    """Between `starts` and `ends` (exclusive) of a batch. Where the start is not known, the first
    record is it. `began`: when the archive did, Unix seconds.

    Also where a partition goes on missing at its end: only the record that follows tells how old
    that gap is.
    """
    of_place: dict[Place, list[Run]] = defaultdict(list)
    for run in sorted(found):
        of_place[run.place].append(run)
    result, open_since = [], {}
    for place, end in sorted(ends.items()):
        there = of_place[place]
        position = starts.get(place, there[0].first if there else end)
        for run in there:
            if run.first > position:
                result.append(Gap(place, position, run.first - 1, run.at < began))
            position = run.last + 1
        if position < end:
            open_since[place] = position
    return result, open_since


def within(
    events: DataFrame,
    ids: Mapping[str, str],
    starts: Mapping[Place, int],
    ends: Mapping[Place, int],
) -> DataFrame:
    """Rows of topics that had these ids, from `starts` (else 0) to `ends`, exclusive."""
    ranges = [
        (F.col("topic") == topic)
        & (F.col("topic_id") == ids[topic])
        & (F.col("partition") == partition)
        & F.col("offset").between(starts.get((topic, partition), 0), end - 1)
        for (topic, partition), end in ends.items()
        if starts.get((topic, partition), 0) < end
    ]
    return events.where(reduce(or_, ranges, F.lit(False)))
