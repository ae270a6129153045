"""Gaps: noticed batch by batch, recorded beside the events, counted and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import structlog
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.metrics.archiver import ARCHIVER_LOST

from warren_archiver.lake.gaps import GAPS_SCHEMA, Cause, Gap, Place, gaps, runs
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.offset_filter import within
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
        """Partitions that went on missing at the last batch's end, and since which offset.
        Forgotten when the process ends; the check finds such a gap all the same.
        """

    def look(self, progress: Progress, ids: Mapping[str, str]) -> None:
        """After the batch is in the table. `ids`: its topics'. Raises KafkaError."""
        starts: dict[Place, int] = {}
        if progress.starts is not None:
            # A partition that is new is archived from its beginning.
            starts = dict.fromkeys(progress.ends, 0) | {**progress.starts} | self._open
            offsets = sum(end - starts[place] for place, end in progress.ends.items())
            if offsets == sum(progress.rows.values()):
                return
        table = self._lake.read(self._spark, self._lake.events)
        assert table is not None  # a batch has been written
        archived = within(table, ids, starts, progress.ends)
        began = self._lake.began(self._spark)
        found, self._open = gaps(runs(archived), starts, progress.ends, began)
        if found:
            self._record(found, ids)

    def made_anew(self, ends: Mapping[Place, int], ids: Mapping[str, str]) -> None:
        """What followed `ends` in topics that were deleted is gone; `ids`: those that they had."""
        found_at = self._now()
        cause = Cause.TOPIC_MADE_ANEW.value
        self._write(
            [
                (topic, ids[topic], partition, end, None, cause, found_at)
                for (topic, partition), end in ends.items()
            ]
        )

    def _record(self, found: Sequence[Gap], ids: Mapping[str, str]) -> None:
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
