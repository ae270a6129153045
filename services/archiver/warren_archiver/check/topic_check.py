"""The table of events compared with a topic, by offsets.

They are equal when its rows are each record that was in the topic when the check began, each once.
Rows of records that came later are only checked for being there once and within the topic. Records
that the topic no longer has (retention, compaction) may be in the table; other rows may not. What
lies between archived records and is in neither was lost before it was archived: that is a
difference, unless it is older than the archive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from types import MappingProxyType

from confluent_kafka.admin import AdminClient
from pyspark.sql import (
    DataFrame,
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.contracts.topics import ARCHIVED, Topic
from warren.kafka.connection import connect
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings, Settings

from warren_archiver.lake.gaps import Cause, Place, runs
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.offset_ranges import OffsetRanges
from warren_archiver.topics import log_ends, log_starts, topic_ids


@dataclass(frozen=True, slots=True)
class TableOffsets:
    """What the table has of one partition."""

    offsets: OffsetRanges
    rows: int


NOTHING = TableOffsets(OffsetRanges(), 0)
_NO_RANGES: Mapping[int, OffsetRanges] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TopicCheck:
    """One topic. `differences` are sentences; there are none when what is archived is right."""

    topic: str
    retained: int
    """Records in the topic when the check began."""
    archived: int
    """Rows of the topic in the table."""
    missing: int
    """Records below the archived end that are not in the table."""
    behind: int
    """Records in the topic when the check began that lie beyond the archived end."""
    lost: int = 0
    """Records between archived ones that neither topic nor table have."""
    differences: list[str] = field(default_factory=list)

    @property
    def correct(self) -> bool:
        """Whether what is archived so far agrees with the topic."""
        return not self.differences

    @property
    def equal(self) -> bool:
        """Whether all that was there is archived as well."""
        return self.correct and self.behind == 0


def compare(
    topic: Topic,
    name: str,
    retained: Mapping[int, TopicOffsets],
    table: Mapping[int, TableOffsets],
    ends: Mapping[int, int],
    older: Mapping[int, OffsetRanges] = _NO_RANGES,
) -> TopicCheck:
    """Pure: no Spark, no Kafka. `ends` are the topic's after the table was read. `older`: gaps
    from before the archive began.
    """
    gone = TopicOffsets(OffsetRanges(), 0, 0)
    differences, retained_records, missing, behind, lost = [], 0, 0, 0, 0
    for partition in sorted({*retained, *table}):
        found = retained.get(partition, gone)
        rows = table.get(partition, NOTHING)
        archived = rows.offsets
        expected = found.retained.clip(found.log_start, found.log_end)
        retained_records += len(expected)
        lacking = expected.clip(found.log_start, archived.end) - archived
        if lacking:
            missing += len(lacking)
            differences.append(f"partition {partition}: {len(lacking)} not archived: {lacking}")
        if repeated := rows.rows - len(archived):
            differences.append(f"partition {partition}: {repeated} rows too many for their offsets")
        if beyond := archived.clip(ends.get(partition, 0), archived.end):
            differences.append(f"partition {partition}: rows beyond the topic's end: {beyond}")
        invented = archived.clip(found.log_start, found.log_end) - found.retained
        if invented and not topic.compacted:
            differences.append(f"partition {partition}: rows that the topic lacks: {invented}")
        gaps = archived.gaps.clip(0, found.log_end or archived.end) - found.retained
        gaps -= older.get(partition, OffsetRanges())
        if gaps:
            lost += len(gaps)
            differences.append(
                f"partition {partition}: {len(gaps)} gone before they were archived: {gaps}"
            )
        behind += len(expected.clip(archived.end, found.log_end))
    return TopicCheck(
        topic=name,
        retained=retained_records,
        archived=sum(rows.rows for rows in table.values()),
        missing=missing,
        behind=behind,
        lost=lost,
        differences=differences,
    )


@dataclass(frozen=True, slots=True)
class TopicOffsets:
    """Records of a partition that are still retained, and where the log ended before the reading.

    `retained` may go on beyond `log_end`.
    """

    retained: OffsetRanges
    log_start: int
    log_end: int


def read_offsets(home: HomeSettings, admin: AdminClient, topic: str) -> dict[int, TopicOffsets]:
    """Reads the whole topic once. Raises KafkaError."""
    ends = log_ends(admin, topic)
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    with closing(TopicReader(home, [topic])) as reader:
        while not reader.caught_up:
            for message in reader.poll(1.0):
                ranges, offset = found[message.partition() or 0], message.offset() or 0
                first = ranges.pop()[0] if ranges and ranges[-1][1] == offset else offset
                ranges.append((first, offset + 1))
    # Asked for last: what retention has deleted meanwhile is not expected of the table.
    starts = log_starts(admin, topic)
    return {
        partition: TopicOffsets(OffsetRanges(tuple(found[partition])), starts[partition], end)
        for partition, end in ends.items()
    }


def check(
    spark: SparkSession, settings: Settings, *, topics: Sequence[Topic] = ARCHIVED
) -> list[TopicCheck]:
    """Check every topic. Raises KafkaError."""
    home = settings.home
    admin = connect(HOME, "home", home)
    lake = Lake.at(settings.archiver.path)
    names = {topic.full_name(home.topic_prefix): topic for topic in topics}
    retained = {name: read_offsets(home, admin, name) for name in names}
    ids = topic_ids(admin, names)
    events = _events(spark, lake, ids)
    tables = {} if events is None else _archived(events)
    older = _older(spark, lake, ids)
    checks = []
    for name, topic in names.items():
        ends = log_ends(admin, name)  # after the table: its rows lie below it
        of_table, of_before = tables.get(name, {}), older.get(name, {})
        checks.append(compare(topic, name, retained[name], of_table, ends, of_before))
    return checks


def _events(spark: SparkSession, lake: Lake, ids: Mapping[str, str]) -> DataFrame | None:
    """Of the topics that have these ids, not of those before them."""
    table = lake.read(spark, lake.events)
    if table is None:
        return None
    pairs = [F.struct(F.lit(name), F.lit(id_)) for name, id_ in ids.items()]
    return table.where(F.struct("topic", "topic_id").isin(pairs))


def _older(
    spark: SparkSession, lake: Lake, ids: Mapping[str, str]
) -> dict[str, dict[int, OffsetRanges]]:
    """Gaps from before the archive began, by topic and partition."""
    table = lake.read(spark, lake.gaps)
    if table is None:
        return {}
    gaps = table.where(F.col("cause") == Cause.BEFORE_ARCHIVE.value)
    ranges: dict[str, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for row in gaps.collect():
        if row["topic_id"] == ids.get(row["topic"]):
            ranges[row["topic"]][row["partition"]].append((row["from"], row["to"] + 1))
    return {
        topic: {partition: OffsetRanges.of(each) for partition, each in of.items()}
        for topic, of in ranges.items()
    }


def _archived(events: DataFrame) -> dict[str, dict[int, TableOffsets]]:
    """By topic and partition."""
    place = ("topic", "partition")
    ranges: dict[Place, list[tuple[int, int]]] = defaultdict(list)
    for run in runs(events.dropDuplicates([*place, "offset"])):
        ranges[run.place].append((run.first, run.last + 1))
    found: dict[str, dict[int, TableOffsets]] = defaultdict(dict)
    for topic, partition, rows in events.groupBy(*place).count().collect():
        offsets = OffsetRanges.of(ranges[topic, partition])
        found[topic][partition] = TableOffsets(offsets, rows)
    return found
