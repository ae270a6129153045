"""The streaming query of one topic, started again when it fails."""

from __future__ import annotations

import json
import threading

import structlog
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.kafka.connection import connect
from warren.kafka.topics import HOME
from warren.metrics.archiver import ARCHIVER_BEHIND, ARCHIVER_FAILURES
from warren.settings import Settings
from warren.standstill import Look

from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.lake.lake import Lake
from warren_archiver.streaming.batch_writer import BatchWriter
from warren_archiver.streaming.kafka_options import kafka_options

log = structlog.get_logger(__name__)
FIRST_PAUSE = 5.0  # seconds before a failed query is started again; doubled each time
LONGEST_PAUSE = 60.0
ANSWER_SECONDS = 5.0


class TopicArchive:
    """Reads a topic from its beginning, or from its checkpoint, into its table."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        lake: Lake,
        topic: Topic,
        clock: Clock,
        stop: threading.Event,
    ) -> None:
        self.topic = topic
        self._spark = spark
        self._settings = settings
        self._lake = lake
        self._clock = clock
        self._query: StreamingQuery | None = None
        self._stop = stop
        self._writer: BatchWriter | None = None
        self._measured: int | None = None
        self._once = False
        self._pause = FIRST_PAUSE
        self._start_at = 0.0
        self._seen: Look | None = None

    @property
    def running(self) -> bool:
        return self._query is not None and self._query.isActive

    @property
    def busy(self) -> bool:
        """Whether a batch is being written."""
        return self._query is not None and bool(self._query.status["isTriggerActive"])

    def look(self) -> Look:
        """A batch that is being written waits; tasks of Spark's that end, of whatever query, move.

        May be called from any thread. Raises KafkaError when the home cluster does not answer.
        """
        newest = self._writer.newest if self._writer else -1
        tracker = self._spark.sparkContext.statusTracker()
        stages = tracker.getActiveStageIds()
        infos = [tracker.getStageInfo(stage) for stage in stages]
        tasks = sum(info.numCompletedTasks for info in infos if info)
        look = Look(int(self.busy), (newest, tuple(stages), tasks), unit="")
        if look.waiting and look == self._seen:  # Spark waits for Kafka without a word
            connect(HOME, HOME, self._settings.home, ANSWER_SECONDS)
        self._seen = look
        return look

    def start(self, *, once: bool) -> None:
        """Starts the query; `once` ends it at what is the topic's end now."""
        self._once = once
        archiver = self._settings.archiver
        self._writer = BatchWriter(self.topic, self._lake, archiver.writers, self._stop)
        self._measured = None
        stream = (
            self._source()
            .writeStream.foreachBatch(self._writer)
            .queryName(f"archive {self.topic.name}")
            .option("checkpointLocation", self._lake.checkpoint(self.topic))
        )
        if once:
            self._query = stream.trigger(availableNow=True).start()
        else:
            interval = f"{round(archiver.interval * 1000)} milliseconds"
            self._query = stream.trigger(processingTime=interval).start()

    def _source(self) -> DataFrame:
        home, archiver = self._settings.home, self._settings.archiver
        options = {f"kafka.{name}": value for name, value in kafka_options("home", home).items()}
        return (
            self._spark.readStream.format("kafka")
            .options(**options)
            .option("kafka.isolation.level", "read_committed")
            .option("groupIdPrefix", home.installation.group("archiver"))
            .option("subscribe", self.topic.full_name(home.topic_prefix))
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", archiver.batch_records)
            .option("failOnDataLoss", str(archiver.fail_on_data_loss).lower())
            .load()
        )

    def watch(self) -> None:
        """Takes figures from a running query; starts a failed one again after a pause.

        Raises ArchiveFailed when a query that should run once has failed.
        """
        if self._query is None or self._writer is None:
            if self._clock.monotonic() >= self._start_at:
                self.start(once=self._once)
            return
        if self._writer.newest >= 0:
            self._pause = FIRST_PAUSE
        self._measure(self._query, self._writer.newest)
        if self._query.isActive:
            return
        failure = self._failure(self._query, self._writer)
        if failure is not None:
            self._restart_after(failure)

    def _failure(self, query: StreamingQuery, writer: BatchWriter) -> ArchiveFailed | None:
        """Why a query ended; None when it had come to its end."""
        if writer.failure is not None:
            return writer.failure
        problem = query.exception()
        if problem is None and self._once:
            return None
        cause = spark_cause(problem) if problem else "the query ended without a reason"
        return ArchiveFailed(self.topic.name, cause)

    def _restart_after(self, failure: ArchiveFailed) -> None:
        if self._once:
            raise failure
        ARCHIVER_FAILURES.labels(self.topic.name).inc()
        log.error(
            "archiving failed",
            topic=self.topic.name,
            problem=failure.cause,
            again_in=self._pause,
        )
        self._query = None
        self._start_at = self._clock.monotonic() + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def _measure(self, query: StreamingQuery, newest: int) -> None:
        """Once for each batch, and for a query that has found nothing new.

        Progress comes a moment after its batch. It is not asked for at every look: pyspark fetches
        it field by field, a call to Java each.
        """
        if self._measured is not None and self._measured >= newest:
            return
        progress = query.lastProgress
        if progress is None:
            return
        if progress.batchId >= newest:
            self._measured = newest
        source = progress.sources[0]
        latest, archived = _total(source.latestOffset), _total(source.endOffset)
        if latest is not None and archived is not None:
            ARCHIVER_BEHIND.labels(self.topic.name).set(latest - archived)

    def stop(self) -> None:
        """Ends the query. A batch that is being written is given up, and repeated next time."""
        if self._query is not None:
            try:
                self._query.stop()
            except PySparkException as problem:  # it failed while being stopped: it is down
                log.warning("stopping", topic=self.topic.name, problem=spark_cause(problem))
            self._query = None


def _total(offsets: str) -> int | None:
    """Sum of the offsets in Spark's {topic: {partition: offset}}: another text if unknown."""
    try:
        topics = json.loads(offsets)
    except ValueError:
        return None
    if not isinstance(topics, dict):
        return None
    return sum(sum(partitions.values()) for partitions in topics.values())
