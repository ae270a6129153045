"""Gaps of one topic: noticed batch by batch, recorded beside the tables, counted and told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import reduce
from operator import or_

import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import Topic
from warren.metrics.archiver import ARCHIVER_LOST

from warren_archiver.lake.gaps import GAPS_SCHEMA, Gap, gaps, runs
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.planned import Planned, planned

log = structlog.get_logger(__name__)


class GapRecorder:
    """A batch without gaps costs one small file: it has as many records as offsets."""

    def __init__(self, topic: Topic, lake: Lake) -> None:
        self._topic = topic
        self._lake = lake
        self._before: tuple[int, Planned | None] = (-1, None)
        """The batch before, and what was planned for it."""
        self._open: dict[int, int] = {}
        """Partitions that went on missing at its end, and since which offset. Forgotten when the
        process ends; the check finds such a gap all the same.
        """

    def look(
        self, spark: SparkSession, batch: int, records: int, transaction: Mapping[str, str]
    ) -> None:
        """After the batch is in the tables. `transaction`: Delta's, so that a repetition adds
        nothing.
        """
        checkpoint = self._lake.checkpoint(self._topic)
        number, before = self._before
        if number != batch - 1:
            before = planned(spark, checkpoint, batch - 1)
        now = planned(spark, checkpoint, batch)
        self._before = batch, now
        if now is None:
            return
        starts: dict[int, int] = {}
        if before is not None:
            # A partition that is new is archived from its beginning.
            starts = dict.fromkeys(now.ends, 0) | before.ends | self._open
            if sum(end - starts[partition] for partition, end in now.ends.items()) == records:
                return
        began = self._lake.began(spark, self._topic)
        found, self._open = gaps(runs(self._archived(spark, now, starts)), starts, now.ends, began)
        if found:
            self._record(spark, now.topic, found, transaction)

    def _archived(self, spark: SparkSession, now: Planned, starts: Mapping[int, int]) -> DataFrame:
        """The batch's rows, with Kafka's columns. Not its records read once more from Kafka: some
        may have been compacted since they were archived.
        """
        of_batch = reduce(
            or_,
            (
                (F.col("partition") == partition)
                & F.col("offset").between(starts.get(partition, 0), end - 1)
                for partition, end in now.ends.items()
            ),
            F.lit(False),
        )
        tables = [
            table.where(F.col("kafka_topic") == now.topic).select(
                F.col("kafka_partition").alias("partition"),
                F.col("kafka_offset").alias("offset"),
                F.col("kafka_timestamp").alias("timestamp"),
            )
            for path in (self._lake.bronze(self._topic), self._lake.quarantine)
            if (table := self._lake.read(spark, path)) is not None
        ]
        return reduce(DataFrame.union, tables).where(of_batch)

    def _record(
        self, spark: SparkSession, name: str, found: list[Gap], transaction: Mapping[str, str]
    ) -> None:
        now = datetime.now(UTC)
        rows = [(name, *gap, now, now.date()) for gap in found]
        spark.createDataFrame(rows, GAPS_SCHEMA).coalesce(1).write.format("delta").mode(
            "append"
        ).options(**transaction).save(self._lake.gaps)
        lost = [gap for gap in found if not gap.before_archive]
        if not lost:
            return
        records = sum(gap.records for gap in lost)
        ARCHIVER_LOST.labels(self._topic.name).inc(records)
        log.error(
            "records were compacted or deleted before they were archived",
            topic=self._topic.name,
            records=records,
            partition=lost[0].partition,
            first=lost[0].first,
            gaps=len(lost),
        )
