"""The query from the table of events into silver: it takes in what has come, and ends."""

import threading
from collections.abc import Collection
from datetime import timedelta

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
)
from warren.settings import Settings

from warren_archiver.errors import spark_cause
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.lake import HISTORY_DAYS, Lake, committed_at, newest_version, table_id
from warren_archiver.moments import moment
from warren_archiver.silver.catalogue import EVALUATIONS
from warren_archiver.silver.evaluations import Evaluations
from warren_archiver.silver.silver import Silver, ensure

log = structlog.get_logger(__name__)
BATCH_BYTES = "16m"
"""Of bronze, compressed: with 420 bytes an event, some 400,000 of them."""
LOOK_EVERY = 1  # seconds


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
        self._topics = {topic.full_name(settings.home.topic_prefix): topic for topic in topics}
        self._clock = clock
        self._query: StreamingQuery | None = None
        self._all_judged = False
        """Only then the days of a batch tell what is to be judged."""
        self.problem = ""
        """Why events could not be judged the last time; empty once they could."""

    def take(self, _: threading.Event) -> None:
        """Take in all that is archived. Raises what Spark does."""
        ensure(self._spark, self._lake)
        self._forget_what_is_gone()
        events = (
            self._spark.readStream.format("delta")
            .option("maxBytesPerTrigger", BATCH_BYTES)
            .option("skipChangeCommits", "true")  # what upkeep removes stays in silver
            .load(self._lake.events)
        )
        self._query = (
            events.writeStream.foreachBatch(self._take)
            .queryName("silver")
            .option("checkpointLocation", self._lake.silver_checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        try:
            while not self._query.awaitTermination(LOOK_EVERY):
                pass
        finally:
            self._query = None

    def interrupt(self) -> None:
        """From another thread: a batch that is being taken in is given up, and comes again next
        time."""
        if (query := self._query) is not None:
            query.stop()

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

    def _forget_what_is_gone(self) -> None:
        """Silver that was off for longer than versions are kept cannot go on where it was: all that
        there is is taken in again, which changes nothing but what is missing."""
        checkpoint = Checkpoint(self._spark, self._lake.silver_checkpoint)
        version = checkpoint.goes_on_at()
        if version is None or version > newest_version(self._spark, self._lake.events):
            return
        at = committed_at(self._spark, self._lake.events, version)
        if at is not None and moment(self._clock) - at < timedelta(days=HISTORY_DAYS):
            return
        checkpoint.delete()
        log.warning("silver was off for too long: all is taken in", version=version)

    def _take(self, events: DataFrame, number: int) -> None:
        """In a thread of Spark's; `events` belong to a session of the query's own."""
        started = self._clock.monotonic()
        written = Silver(events.sparkSession, self._lake, self._topics).take(events)
        written |= self._judge(events)
        for table, rows in written.items():
            ARCHIVER_SILVER_ROWS.labels(table).inc(rows)
        seconds = round(self._clock.monotonic() - started, 2)
        log.info("silver written", batch=number, rows=sum(written.values()), seconds=seconds)

    def _judge(self, events: DataFrame) -> dict[str, int]:
        """What fails is tried again after the next batch: progress is kept beside the tables."""
        # Of these topics' events; None when there is none.
        row = (
            events.where(
                F.col("topic").isin([n for n, topic in self._topics.items() if topic is OFFSETS])
            )
            .agg(F.min("date").alias("day"))
            .first()
        )
        since = None if row is None else row["day"]
        if since is None and self._all_judged:
            return {}
        evaluations = Evaluations(events.sparkSession, self._lake, self._settings)
        try:
            judged = evaluations.catch_up(since if self._all_judged else None)
            self._all_judged, self.problem = True, ""
            return {EVALUATIONS.name: judged}
        except (PySparkException, Py4JError) as problem:
            self._all_judged = False
            ARCHIVER_FAILURES.inc()
            self.problem = spark_cause(problem)
            log.error("evaluations failed", problem=self.problem)
            return {}
