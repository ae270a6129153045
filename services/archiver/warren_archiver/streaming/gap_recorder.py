"""Gaps: noticed batch by batch, recorded beside the events, counted and told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import structlog
from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.metrics.archiver import ARCHIVER_LOST

from warren_archiver.lake.gaps import GAPS_SCHEMA, Cause, Gap, Place, gaps, runs
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.offset_filter import within
from warren_archiver.lake.offset_ranges import OffsetRanges
from warren_archiver.streaming.progress import Progress
from warren_archiver.topics import log_starts

log = structlog.get_logger(__name__)


class GapRecorder:
    """A batch without gaps costs nothing: it has as many rows as offsets."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        admin: AdminClient,
        topics: Mapping[str, Topic],
        clock: Clock,
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._admin = admin
        self._topics = topics
        self._clock = clock
        for topic in topics.values():  # from 0 on: alerts see the first record that is lost
            ARCHIVER_LOST.labels(topic.name)
        self._open: dict[Place, int] = {}
        """Partitions that went on missing at the last batch's end, and since which offset."""

    def look(self, progress: Progress, ids: Mapping[str, str]) -> None:
        """After the batch is in the table. `ids`: its topics'. Raises KafkaError."""
        starts: dict[Place, int] = {}
        if progress.starts is not None:
            # A partition that is new is archived from its beginning.
            starts = dict.fromkeys(progress.ends, 0) | {**progress.starts} | self._open
            offsets = sum(end - starts[place] for place, end in progress.ends.items())
            if offsets == sum(progress.rows.values()):
                return
        found, still_open = self._gaps(starts, progress.ends, ids)
        self._record(found, ids)
        self._open = still_open

    def look_again(
        self, starts: Mapping[Place, int] | None, ends: Mapping[Place, int], ids: Mapping[str, str]
    ) -> None:
        """At batches whose gaps may not have been recorded: the process was killed before it had
        looked, or Kafka did not say where a log begins. `starts`: None for those of all records.

        Raises KafkaError.
        """
        known: dict[Place, int] = {}
        if starts is not None:
            known = dict.fromkeys(ends, 0) | dict(starts)
            known |= {place: min(known.get(place, at), at) for place, at in self._open.items()}
        found, still_open = self._gaps(known, ends, ids)
        recorded = self._recorded({gap.place[0]: ids[gap.place[0]] for gap in found})
        left = [
            gap._replace(first=first, last=end - 1)
            for gap in found
            for first, end in (
                OffsetRanges.of([(gap.first, gap.last + 1)])
                - recorded.get(gap.place, OffsetRanges())
            ).ranges
        ]
        self._record(left, ids)
        self._open = still_open

    def made_anew(self, ends: Mapping[Place, int], ids: Mapping[str, str]) -> None:
        """What followed `ends` in topics that were deleted is gone; `ids`: those that they had.
        Done again, it writes nothing."""
        self._open = {place: at for place, at in self._open.items() if place[0] not in ids}
        found_at = self._now()
        cause = Cause.TOPIC_MADE_ANEW.value
        told = {
            (row["topic"], row["partition"])
            for row in self._rows(ids).where(F.col("cause") == cause).collect()
        }
        rows = [
            (topic, ids[topic], partition, end, None, cause, found_at)
            for (topic, partition), end in ends.items()
            if (topic, partition) not in told
        ]
        if rows:
            self._write(rows)

    def _gaps(
        self, starts: Mapping[Place, int], ends: Mapping[Place, int], ids: Mapping[str, str]
    ) -> tuple[list[Gap], dict[Place, int]]:
        table = self._lake.read(self._spark, self._lake.events)
        assert table is not None  # a batch has been written
        archived = within(table, ids, starts, ends)
        return gaps(runs(archived), starts, ends, self._lake.began(self._spark))

    def _recorded(self, ids: Mapping[str, str]) -> dict[Place, OffsetRanges]:
        found: dict[Place, OffsetRanges] = defaultdict(OffsetRanges)
        for row in self._rows(ids).where(F.col("to").isNotNull()).collect() if ids else ():
            found[row["topic"], row["partition"]] |= OffsetRanges.of([(row["from"], row["to"] + 1)])
        return found

    def _rows(self, ids: Mapping[str, str]) -> DataFrame:
        """Of topics that had these ids."""
        table = self._lake.read(self._spark, self._lake.gaps)
        assert table is not None  # the lake has been ensured
        pairs = [F.struct(F.lit(name), F.lit(id_)) for name, id_ in ids.items()]
        return table.where(F.struct("topic", "topic_id").isin(pairs))

    def _record(self, found: Sequence[Gap], ids: Mapping[str, str]) -> None:
        if not found:
            return
        names = {gap.place[0] for gap in found}
        begins = {name: log_starts(self._admin, name) for name in names}
        causes = [gap.cause(begins[gap.place[0]].get(gap.place[1], 0)) for gap in found]
        found_at = self._now()
        self._write(
            [
                (topic, ids[topic], partition, gap.first, gap.last, cause.value, found_at)
                for gap, cause in zip(found, causes, strict=True)
                for topic, partition in [gap.place]
            ]
        )
        for gap, cause in zip(found, causes, strict=True):
            if cause is not Cause.BEFORE_ARCHIVE:
                ARCHIVER_LOST.labels(self._topics[gap.place[0]].name).inc(gap.records)
        self._tell([gap for gap in found if not gap.before_archive])

    def _write(self, rows: Sequence[tuple[object, ...]]) -> None:
        frame = self._spark.createDataFrame(rows, GAPS_SCHEMA)
        frame.coalesce(1).write.format("delta").mode("append").save(self._lake.gaps)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)

    def _tell(self, lost: Sequence[Gap]) -> None:
        """One line for each topic."""
        for topic in sorted({gap.place[0] for gap in lost}):
            of_topic = [gap for gap in lost if gap.place[0] == topic]
            log.error(
                "records were compacted or deleted before they were archived",
                topic=self._topics[topic].name,
                records=sum(gap.records for gap in of_topic),
                partition=of_topic[0].place[1],
                first=of_topic[0].first,
                gaps=len(of_topic),
            )
