"""Writing of one topic's micro-batches: each record once, however often a batch is repeated."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any, NamedTuple

import structlog
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, Row
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import Topic
from warren.metrics.archiver import (
    ARCHIVER_BATCH_SECONDS,
    ARCHIVER_BATCH_TIMESTAMP,
    ARCHIVER_QUARANTINED,
    ARCHIVER_ROWS,
)

from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.lake.bronze import Bronze
from warren_archiver.lake.lake import Lake
from warren_archiver.streaming.gap_recorder import GapRecorder

log = structlog.get_logger(__name__)
OBSERVATION_TIMEOUT = 30.0  # seconds; the counts come within milliseconds after the write
ONE_FILE = 20_000  # records up to which a batch makes one file, by one task


class Counts(NamedTuple):
    """Records of a batch, and how many of them go to the quarantine."""

    records: int
    rejected: int


class BatchWriter:
    """The function that Structured Streaming calls with one batch after the other.

    A batch may come again after a crash. Delta remembers per query (txnAppId) the newest batch
    (txnVersion) in the same commit as its rows and ignores what is not newer. The query's id is
    that of its checkpoint, so a new checkpoint, whose batches count from 0, is not ignored.

    Counting while writing saves reading a batch twice. But Delta skips the write of a repeated
    batch and nothing is counted then; only the first batch after a start can be such a one.
    """

    def __init__(self, topic: Topic, lake: Lake, files: int, stop: threading.Event) -> None:
        self._topic = topic
        self._bronze = Bronze(topic)
        self._table = lake.bronze(topic)
        self._quarantine = lake.quarantine
        self._gaps = GapRecorder(topic, lake)
        self._files = files
        self._stop = stop
        self.newest = -1
        """Spark's number of the batch that was written last; -1: none since the start."""
        self.failure: ArchiveFailed | None = None
        self._counters = (
            F.count(F.lit(1)).alias("records"),
            F.count("reason").alias("rejected"),
        )
        self._first = True
        self._last = Counts(0, 0)

    def __call__(self, raw: DataFrame, batch: int) -> None:
        """Raises ArchiveFailed; Spark ends the query then."""
        try:
            if self._stop.is_set():  # between two batches nothing has to be interrupted
                raise ArchiveFailed(self._topic.name, "stopping")
            self._write(raw, batch)
        except (PySparkException, Py4JError) as problem:
            # Not chained: Spark searches the text that it gets, Java's stacks included, with an
            # expression that overflows its own stack on a long one; the query then just vanishes.
            self.failure = ArchiveFailed(self._topic.name, spark_cause(problem))
            raise self.failure from None
        self.newest = batch

    def _write(self, raw: DataFrame, batch: int) -> None:
        started = time.monotonic()
        query = raw.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        transaction = {"txnAppId": str(query), "txnVersion": str(batch)}
        parsed, observation = self._bronze.parse(raw), Observation()
        # Without the observation in between, Spark would parse twice: to filter and to select.
        rows = self._bronze.rows(parsed.observe(observation, *self._counters))
        if self._first:
            counts = self._last = self._count(parsed)
            if counts.records:  # the first batch of an empty topic is empty
                self._append(rows, self._table, transaction)
        else:
            self._append(rows, self._table, transaction)
            counts = self._observed(observation) or self._count(parsed)
        if counts.rejected:
            self._append(self._bronze.rejected(parsed), self._quarantine, transaction)
        self._gaps.look(raw.sparkSession, batch, counts.records, transaction)
        self._first, self._last = False, counts
        self._report(counts, time.monotonic() - started)

    def _append(self, rows: DataFrame, table: str, transaction: dict[str, str]) -> None:
        files = self._files if self._last.records > ONE_FILE else 1  # batches resemble each other
        rows.coalesce(files).write.format("delta").mode("append").options(
            **transaction, mergeSchema="true"
        ).save(table)

    def _count(self, parsed: DataFrame) -> Counts:
        counted = parsed.agg(*self._counters).first() or Row(records=0, rejected=0)
        return Counts(counted["records"], counted["rejected"])

    def _observed(self, observation: Observation) -> Counts | None:
        """The counts of a finished write; None when Spark has lost them, as an overloaded
        listener queue may.
        """
        future: Future[dict[str, Any]] = Future()
        threading.Thread(
            target=lambda: future.set_result(observation.get), name="observation", daemon=True
        ).start()
        try:
            return Counts(**future.result(OBSERVATION_TIMEOUT))
        except TimeoutError:
            log.warning("counts of a batch were lost, counting again", topic=self._topic.name)
            return None

    def _report(self, counts: Counts, seconds: float) -> None:
        name = self._topic.name
        ARCHIVER_ROWS.labels(name).inc(counts.records - counts.rejected)
        ARCHIVER_QUARANTINED.labels(name).inc(counts.rejected)
        ARCHIVER_BATCH_SECONDS.labels(name).observe(seconds)
        ARCHIVER_BATCH_TIMESTAMP.labels(name).set_to_current_time()
        log.info(
            "batch written",
            topic=name,
            records=counts.records,
            quarantined=counts.rejected,
            seconds=round(seconds, 2),
        )
