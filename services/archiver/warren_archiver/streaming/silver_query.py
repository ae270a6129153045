"""The query from the table of events into the silver tables, beside the archive's own.

Each interval it takes in what has come, and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import date

import structlog
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.streaming.query import StreamingQuery
from warren.clock import Clock
from warren.contracts.topics import OFFSETS, Topic
from warren.metrics.archiver import (
    ARCHIVER_FAILURES,
    ARCHIVER_SILVER_ROWS,
    ARCHIVER_SILVER_TIMESTAMP,
)
from warren.settings import Settings

from warren_archiver.errors import spark_cause
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.lake import Lake, newest_version, table_id
from warren_archiver.silver.catalogue import EVALUATIONS
from warren_archiver.silver.evaluations import Evaluations
from warren_archiver.silver.silver import Silver, ensure
from warren_archiver.streaming.restarts import Restarts

log = structlog.get_logger(__name__)
FIRST = 30.0
"""Seconds after the start, where the interval is longer: reports and gold soon have something, and
what the first time costs, most of it for planning what was never planned before, is over early."""
FIRST_PAUSE = 10.0  # seconds before a failed query is started again; doubled each time
LONGEST_PAUSE = 600.0
BATCH_BYTES = "16m"
"""Of bronze, compressed: with 420 bytes an event, some 400,000 of them."""


class SilverQuery:
    """What fails here stops nothing else: the events are archived, and are taken in later."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        settings: Settings,
        topics: Collection[Topic],
        clock: Clock,
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._settings = settings
        self._interval = settings.archiver.silver_interval
        self._topics = {topic.full_name(settings.home.topic_prefix): topic for topic in topics}
        self._clock = clock
        self._query: StreamingQuery | None = None
        self._restarts = Restarts(
            clock, "silver", settings.archiver.path, first=FIRST_PAUSE, longest=LONGEST_PAUSE
        )
        self._settled = self._failing = False
        self._began = clock.monotonic()
        self._all_judged = False
        """Only then the days of a batch tell what is to be judged."""

    @property
    def running(self) -> bool:
        return self._query is not None and self._query.isActive

    @property
    def busy(self) -> bool:
        """Whether a batch is being taken in."""
        return self._query is not None and bool(self._query.status["isTriggerActive"])

    @property
    def settled(self) -> bool:
        """Whether all that was archived an interval ago is in silver: no file of that is needed."""
        return self._settled

    @property
    def failing(self) -> bool:
        """Since it was settled last: what it has not read has to be kept for it."""
        return self._failing

    @property
    def read_ago(self) -> float:
        """Seconds since what was archived then is in silver, once it is settled."""
        return self._clock.monotonic() - self._began

    def find_checkpoint(self) -> None:
        """Before anything more is archived: where silver has read another table of events than
        there is, as before a backup was restored, all is taken in again, which changes nothing."""
        path = self._lake.silver_checkpoint
        checkpoint = Checkpoint(self._spark, path)
        if checkpoint.is_whole():
            events = self._spark, self._lake.events
            if not checkpoint.has_read_another(table_id(*events), newest_version(*events)):
                return
        checkpoint.delete()
        log.warning("silver has not read this table of events: all is taken in", checkpoint=path)

    def start(self, *, once: bool) -> None:
        """`once`: at once, and nothing after it; raises ArchiveFailed. Else `watch` starts the
        query a little later: there is little to take in yet, and much else to be done.
        """
        self._restarts.once = once
        if once:
            self._attempt(self._start)
        self._restarts.due_in(min(self._interval, FIRST))

    def watch(self) -> None:
        """Starts the query when it is time, a failed one after a pause. Raises ArchiveFailed with
        `once`."""
        if self._query is not None:
            self._attempt(self._look)
        elif not self._restarts.once and self._restarts.due:
            self._attempt(self._start)

    def stop(self) -> None:
        """A batch that is being taken in is given up, and comes again next time."""
        query, self._query = self._query, None
        if query is None:
            return
        try:
            query.stop()
        except (PySparkException, Py4JError) as problem:
            log.warning("stopping silver", problem=spark_cause(problem))

    def _start(self) -> None:
        ensure(self._spark, self._lake)
        events = (
            self._spark.readStream.format("delta")
            .option("maxBytesPerTrigger", BATCH_BYTES)
            .option("skipChangeCommits", "true")  # what upkeep removes stays in silver
            .load(self._lake.events)
        )
        self._restarts.due_in(self._interval)
        self._began = self._clock.monotonic()
        self._query = (
            events.writeStream.foreachBatch(self._take)
            .queryName("silver")
            .option("checkpointLocation", self._lake.silver_checkpoint)
            .trigger(availableNow=True)
            .start()
        )

    def _take(self, events: DataFrame, number: int) -> None:
        """In a thread of Spark's; `events` belong to a session of the query's own."""
        started = self._clock.monotonic()
        written = Silver(events.sparkSession, self._lake, self._topics).take(events)
        written |= self._judge(events)
        for table, rows in written.items():
            ARCHIVER_SILVER_ROWS.labels(table).inc(rows)
        ARCHIVER_SILVER_TIMESTAMP.set(self._clock.now_ms() / 1000)
        seconds = round(self._clock.monotonic() - started, 2)
        log.info("silver written", batch=number, rows=sum(written.values()), seconds=seconds)

    def _judge(self, events: DataFrame) -> dict[str, int]:
        """What fails is tried again after the next batch: progress is kept beside the tables."""
        since = _first_day(events, [n for n, topic in self._topics.items() if topic is OFFSETS])
        if since is None and self._all_judged:
            return {}
        evaluations = Evaluations(events.sparkSession, self._lake, self._settings)
        try:
            judged = evaluations.catch_up(since if self._all_judged else None)
            self._all_judged = True
            return {EVALUATIONS.name: judged}
        except (PySparkException, Py4JError) as problem:
            self._all_judged = False
            ARCHIVER_FAILURES.inc()
            log.error("evaluations failed", problem=spark_cause(problem))
            return {}

    def _look(self) -> None:
        """Raises PySparkException when the query has ended, and not because it was done."""
        query = self._query
        assert query is not None
        if query.isActive:
            return
        if (problem := query.exception()) is not None:
            raise problem
        self._query = None
        self._settled, self._failing = True, False
        self._restarts.went_well()

    def _attempt(self, step: Callable[[], None]) -> None:
        if not self._restarts.attempt(step, self.stop):
            self._settled, self._failing = False, True


def _first_day(events: DataFrame, topics: Collection[str]) -> date | None:
    """Of these topics' events; None when there is none."""
    row = events.where(F.col("topic").isin(list(topics))).agg(F.min("date").alias("day")).first()
    return None if row is None else row["day"]
