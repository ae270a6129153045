"""The streaming query of all topics, started again when it fails or a topic was made anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import structlog
from confluent_kafka.admin import AdminClient
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.errors import KafkaError
from warren.kafka.connection import connect
from warren.kafka.topics import HOME, ensure_topics
from warren.metrics.archiver import (
    ARCHIVER_BATCH_SECONDS,
    ARCHIVER_BATCH_TIMESTAMP,
    ARCHIVER_BEHIND,
    ARCHIVER_CAUGHT_UP,
    ARCHIVER_ROWS,
)
from warren.settings import Settings
from warren.standstill import Look, obstacle

from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.lake.checkpoint import Checkpoint, Ends, places_of
from warren_archiver.lake.events import events
from warren_archiver.lake.gaps import Place
from warren_archiver.lake.lake import Lake
from warren_archiver.spark_failures import told_by_spark
from warren_archiver.streaming import source
from warren_archiver.streaming.gap_recorder import GapRecorder
from warren_archiver.streaming.known_topics import KnownTopics
from warren_archiver.streaming.progress import ROWS, Progress, newer_than, row_counters
from warren_archiver.streaming.restarts import Restarts
from warren_archiver.topics import topic_ids

log = structlog.get_logger(__name__)
FIRST_PAUSE = 5.0  # seconds before a failed query is started again; doubled each time
LONGEST_PAUSE = 60.0
ANSWER_SECONDS = 5.0
ONE_BATCH = "1 day"  # between batches: the first is at once


class EventQuery:
    """From Kafka into the table of events, by Delta's own sink: each record once is its promise."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        lake: Lake,
        topics: Collection[Topic],
        clock: Clock,
        admin: AdminClient,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._lake = lake
        self._clock = clock
        self._admin = admin
        self._topics = {topic.full_name(settings.home.topic_prefix): topic for topic in topics}
        self._gaps = GapRecorder(spark, lake, admin, self._topics, clock)
        self._known = KnownTopics(spark, lake, admin, self._topics, clock)
        self._ids: Mapping[str, str] = {}
        self._query: StreamingQuery | None = None
        self._restarts = Restarts(
            clock, "archiving", settings.archiver.path, first=FIRST_PAUSE, longest=LONGEST_PAUSE
        )
        self._seen = ""
        """Time of the newest progress that was looked at."""
        self._look_at = 0.0
        self._begun = False
        self._catching_up = False
        """Whether this query is to do no more than the batch that was begun before."""
        self._looked: Look | None = None

    @property
    def running(self) -> bool:
        return self._query is not None and self._query.isActive

    @property
    def busy(self) -> bool:
        """Whether a batch is being written."""
        return self._query is not None and bool(self._query.status["isTriggerActive"])

    def look(self) -> Look:
        """A batch that is being written waits; tasks of Spark's that end, of whatever query, move.

        May be called from any thread. Raises KafkaError when the home cluster does not answer,
        ArchiveFailed when Spark does not.
        """
        with told_by_spark(self._settings.archiver.path):
            return self._look()

    def _look(self) -> Look:
        tracker = self._spark.sparkContext.statusTracker()
        stages = tracker.getActiveStageIds()
        infos = [tracker.getStageInfo(stage) for stage in stages]
        tasks = sum(info.numCompletedTasks for info in infos if info)
        look = Look(int(self.busy), (self._seen, tuple(stages), tasks), unit="")
        if look.waiting and look == self._looked:  # Spark waits for Kafka without a word
            connect(HOME, HOME, self._settings.home, ANSWER_SECONDS)
        self._looked = look
        return look

    def look_at_failures(self) -> Look:
        """Look at what keeps the query from working: it has failed, and did nothing since."""
        return obstacle(self._restarts.problem)

    def start(self, *, once: bool) -> None:
        """Starts the query; `once` ends it at what is the topics' end now. Raises KafkaError.

        A batch that was begun and is not done comes first: with `availableNow` Spark refuses one
        that lacks a topic or partition of now.
        """
        self._ids = topic_ids(self._admin, self._topics)
        self._known.find_checkpoint(self._ids)
        checkpoint = Checkpoint(self._spark, self._lake.checkpoint)
        if not self._begun:
            begun_ms = checkpoint.begun_ms()
            ARCHIVER_CAUGHT_UP.set((begun_ms or self._clock.now_ms()) / 1000)
        self._begun, self._restarts.once = True, once
        self._restarts.due_in(0)
        archiver = self._settings.archiver
        records = source.batch(self._spark, self._settings, self._topics)
        self._known.settle(self._ids, records, self._gaps)
        self._look_again()
        stream = source.stream(self._spark, self._settings, self._topics, once=once)
        rows = events(stream, self._ids)
        writer = (
            rows.coalesce(archiver.writers)
            .observe(ROWS, *row_counters(self._topics))
            .writeStream.format("delta")
            .queryName("archive")
            .option("checkpointLocation", self._lake.checkpoint)
        )
        self._catching_up = once and checkpoint.begun()
        if self._catching_up:
            writer = writer.trigger(processingTime=ONE_BATCH)
        elif once:
            writer = writer.trigger(availableNow=True)
        else:
            interval = f"{round(archiver.interval * 1000)} milliseconds"
            writer = writer.trigger(processingTime=interval)
        self._look_at = self._clock.monotonic() + archiver.interval
        self._query = writer.start(self._lake.events)

    def watch(self) -> None:
        """Takes figures from a running query; starts a failed one again after a pause.

        Raises ArchiveFailed when a query that should run once has failed.
        """
        if self._query is not None:
            self._restarts.attempt(self._follow, self.stop)
        elif self._restarts.due:
            self._restarts.attempt(self._start_again, self.stop)

    def _start_again(self) -> None:
        """A topic may have been deleted: the others go on, and so does that one, made anew. And
        credentials may have been renewed: the client that asks is made anew, too.
        """
        self._admin = self._gaps.admin = self._known.admin = connect(
            HOME, HOME, self._settings.home, ANSWER_SECONDS
        )
        if self._settings.home.create_topics:
            ensure_topics(self._admin, self._settings.home)
        self.start(once=self._restarts.once)

    def _look_again(self) -> None:
        """Before the query starts: whoever ran it before may not have told of the last gaps."""
        lately = Checkpoint(self._spark, self._lake.checkpoint).lately()
        if lately is not None:
            starts, ends = lately
            self._gaps.look_again(
                None if starts is None else self._places(starts), self._places(ends), self._ids
            )

    def _places(self, ends: Ends) -> dict[Place, int]:
        """Of the query's topics."""
        return {place: end for place, end in places_of(ends).items() if place[0] in self._topics}

    def _follow(self) -> None:
        """Raises ArchiveFailed or PySparkException when the query has ended, and not because it was
        done."""
        query = self._query
        assert query is not None
        ended = not query.isActive  # asked before: its last batch is among the progress then
        self._take_new(query)
        if ended:
            problem = query.exception()
            if problem is not None:
                raise problem
            if not self._restarts.once:
                raise ArchiveFailed("the query ended without a reason")
        elif self._catching_up:
            if not (self.busy or Checkpoint(self._spark, self._lake.checkpoint).begun()):
                self.stop()
                self.start(once=True)
        elif not self._restarts.once and self._clock.monotonic() >= self._look_at:
            self._look_at = self._clock.monotonic() + self._settings.archiver.interval
            if topic_ids(self._admin, self._topics) != self._ids:
                self.stop()
                self.start(once=False)

    def _take_new(self, query: StreamingQuery) -> None:
        for progress in newer_than(query, self._seen):
            self._take(progress)

    def _take(self, progress: Progress) -> None:
        self._seen = progress.at
        self._restarts.goes_on()
        behind: Counter[str] = Counter()
        for place, end in progress.latest.items():
            behind[place[0]] += end - progress.ends.get(place, 0)
        for name, offsets in behind.items():
            ARCHIVER_BEHIND.labels(self._topics[name].name).set(offsets)
        if not any(behind.values()):
            ARCHIVER_CAUGHT_UP.set(self._clock.now_ms() / 1000)
        if progress.found_nothing:
            return
        self._restarts.went_well()
        for name, rows in progress.rows.items():
            ARCHIVER_ROWS.labels(self._topics[name].name).inc(rows)
        ARCHIVER_BATCH_SECONDS.observe(progress.seconds)
        ARCHIVER_BATCH_TIMESTAMP.set_to_current_time()
        log.info(
            "batch written",
            batch=progress.batch,
            records=sum(progress.rows.values()),
            seconds=round(progress.seconds, 2),
        )
        self._gaps.look(progress, self._ids)

    def stop(self) -> None:
        """Ends the query. A batch that is being written is given up, and repeated next time."""
        query, self._query = self._query, None
        if query is None:
            return
        try:
            query.stop()
            self._take_new(query)
        except (PySparkException, Py4JError) as problem:  # failed while being stopped: it is down
            log.warning("stopping", problem=spark_cause(problem))
        except KafkaError as problem:
            log.warning("stopping", problem=problem.problem)
