"""Gaps: noticed batch by batch, recorded beside the events, counted and told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import structlog
from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.metrics.archiver import ARCHIVER_LOST

from warren_archiver.lake.checkpoint import Checkpoint, places_of
from warren_archiver.lake.gaps import (
    GAPS_SCHEMA,
    Cause,
    Gap,
    Place,
    at_ends,
    gaps,
    runs,
    seen_at_first,
    unknown_from,
    unrecorded,
)
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.offset_filter import within
from warren_archiver.lake.offset_ranges import OffsetRanges
from warren_archiver.lake.open_gaps import OpenGaps
from warren_archiver.moments import moment
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
        self.admin = admin
        """Asks the home cluster; another one once this one has failed."""
        self._topics = topics
        self._clock = clock
        for topic in topics.values():  # from 0 on: alerts see the first record that is lost
            ARCHIVER_LOST.labels(topic.name)
        self._open = OpenGaps(spark, lake.open_gaps)

    def look(self, progress: Progress, ids: Mapping[str, str]) -> None:
        """After the batch is in the table. `ids`: its topics'. Raises KafkaError."""
        starts = self._starts(progress.starts, progress.ends)
        offsets = sum(end - starts.get(place, end) for place, end in progress.ends.items())
        if progress.starts is None or offsets != sum(progress.rows.values()):
            self._look(starts, progress.ends, ids)

    def look_again(
        self, starts: Mapping[Place, int] | None, ends: Mapping[Place, int], ids: Mapping[str, str]
    ) -> None:
        """At batches whose gaps may not have been recorded: the process was killed before it had
        looked, or Kafka did not say where a log begins. `starts`: None for those of all records.

        Raises KafkaError.
        """
        self._look(self._starts(starts, ends), ends, ids)

    def made_anew(
        self,
        starts: Mapping[Place, int] | None,
        ends: Mapping[Place, int],
        ids: Mapping[str, str],
    ) -> None:
        """What followed `ends` in topics that were deleted is gone, and what was missing at their
        ends; `ids`: those that they had. Done again, it writes nothing. `starts`: of batches at
        which nobody may have looked, None for those of all records.
        """
        self._look(self._starts(starts, ends), ends, ids, deleted=True)
        open_since = self._open.read()
        found = (Cause.TOPIC_MADE_ANEW.value, moment(self._clock))
        told = {
            (row["topic"], row["partition"])
            for row in self._rows(ids).where(F.col("cause") == found[0]).collect()
        }
        rows = [
            (topic, ids[topic], partition, first, None, *found)
            for (topic, partition), first in unknown_from(ends, open_since, told).items()
        ]
        if rows:
            self._write(rows)
        self._open.keep({place: at for place, at in open_since.items() if place[0] not in ids})

    def _starts(
        self, starts: Mapping[Place, int] | None, ends: Mapping[Place, int]
    ) -> dict[Place, int]:
        """Of batches, and what went on missing before them. A partition that is new is archived
        from its beginning; of the first batch of all, from where Spark found that."""
        if starts is None:
            known = {place: at for place, at in self._beginnings().items() if place in ends}
        else:
            known = dict.fromkeys(ends, 0) | dict(starts)
        return known | {
            place: min(known.get(place, at), at) for place, at in self._open.read().items()
        }

    def _beginnings(self) -> dict[Place, int]:
        return places_of(Checkpoint(self._spark, self._lake.checkpoint).beginnings())

    def _look(
        self,
        starts: Mapping[Place, int],
        ends: Mapping[Place, int],
        ids: Mapping[str, str],
        *,
        deleted: bool = False,
    ) -> None:
        """Records what is not recorded yet. What is missing at the end of a partition waits for
        the next record, which tells how old it is, unless retention took it. Of topics that are
        `deleted` nobody knows where their logs began.
        """
        found, open_since = self._gaps(starts, ends, ids)
        before = self._open.read()
        self._open.keep({**open_since, **before})  # Kafka may not answer, or know the topic
        topics = {place[0] for place in (*open_since, *(gap.place for gap in found))}
        logs = {
            (topic, partition): at
            for topic in (() if deleted else topics)
            for partition, at in log_starts(self.admin, topic).items()
        }
        gone = at_ends(open_since, ends, logs)
        found += gone
        recorded = self._recorded({gap.place[0]: ids[gap.place[0]] for gap in found})
        self._record(unrecorded(found, recorded), logs, ids)
        others = {place: at for place, at in before.items() if place not in ends}
        over = {gap.place for gap in gone}
        still = {place: at for place, at in open_since.items() if place not in over}
        self._open.keep(others | still)

    def _gaps(
        self, starts: Mapping[Place, int], ends: Mapping[Place, int], ids: Mapping[str, str]
    ) -> tuple[list[Gap], dict[Place, int]]:
        table = self._lake.ensured(self._spark, self._lake.events)
        archived = within(table, ids, starts, ends)
        return gaps(runs(archived), starts, ends, self._lake.began(self._spark))

    def _recorded(self, ids: Mapping[str, str]) -> dict[Place, OffsetRanges]:
        found: dict[Place, OffsetRanges] = defaultdict(OffsetRanges)
        for row in self._rows(ids).where(F.col("to").isNotNull()).collect() if ids else ():
            found[row["topic"], row["partition"]] |= OffsetRanges.of([(row["from"], row["to"] + 1)])
        return found

    def _rows(self, ids: Mapping[str, str]) -> DataFrame:
        """Of topics that had these ids."""
        table = self._lake.ensured(self._spark, self._lake.gaps)
        pairs = [F.struct(F.lit(name), F.lit(id_)) for name, id_ in ids.items()]
        return table.where(F.struct("topic", "topic_id").isin(pairs))

    def _record(
        self, found: Sequence[Gap], logs: Mapping[Place, int], ids: Mapping[str, str]
    ) -> None:
        """`logs`: where they begin now."""
        if not found:
            return
        if any(gap.before_archive for gap in found):
            found = seen_at_first(found, self._beginnings(), logs)
        causes = [gap.cause(logs.get(gap.place, 0)) for gap in found]
        found_at = moment(self._clock)
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
