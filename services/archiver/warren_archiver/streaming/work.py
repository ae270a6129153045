"""What the archiver does, in turn: bronze, silver with gold, upkeep."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import structlog
from pyspark.sql import SparkSession
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.kafka.connection import connect
from warren.kafka.topics import HOME
from warren.metrics.archiver import ARCHIVER_REFINED
from warren.settings import Settings
from warren.standstill import Look

from warren_archiver.bronze.bronze import ANSWER_SECONDS, Bronze
from warren_archiver.dialect import for_spark, sql
from warren_archiver.gold.catalogue import VIEWED, VIEWS
from warren_archiver.lake.lake import Lake, exists
from warren_archiver.layers import LAYERS, name_of
from warren_archiver.refining.new_events import NewEvents
from warren_archiver.refining.progress import Progress
from warren_archiver.refining.refine import Refinery, ensure
from warren_archiver.spark_failures import told_by_spark
from warren_archiver.streaming.part import Part
from warren_archiver.streaming.upkeep import Upkeep
from warren_archiver.submitted import is_submitted

log = structlog.get_logger(__name__)


def register(spark: SparkSession, lake: Lake, schema: str) -> None:
    """Register the tables and views that are there and have no name yet, in the catalog that Spark
    is configured with. A name that is taken stays whose it is."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    known = {row["tableName"] for row in spark.sql(f"SHOW TABLES IN {schema}").collect()}
    for layer, tables in LAYERS.items():
        for table in tables:
            name, path = name_of(layer, table), f"{lake.root}/{layer}/{table.name}"
            if name not in known and exists(spark, path):
                spark.sql(
                    f"CREATE TABLE IF NOT EXISTS {schema}.{name} USING delta LOCATION '{path}'"
                )
                known.add(name)
    for view in VIEWS:
        if view.name not in known and {each.name for each in VIEWED[view.name]} <= known:
            spark.sql(f"USE {schema}")  # whose tables the names in it are
            made = for_spark(sql("gold", view.name, {}))
            names = ", ".join(f"`{name}`" for name in view.names)
            spark.sql(f"CREATE VIEW IF NOT EXISTS {view.name} AS SELECT {names} FROM ({made})")


LOOK_EVERY = 1.0  # seconds
NAMED_EVERY = 3600.0
"""Seconds between two looks for tables that have no name yet."""
FIRST = 30.0
"""Seconds after the start before silver, where its interval is longer: reports and gold soon have
something, and what the first time costs, most of it for planning what was never planned before, is
over early."""


class Work:
    """Of one process, in one thread; any other may look at it, or interrupt it."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        lake: Lake,
        topics: Sequence[Topic],
        clock: Clock,
        stop: threading.Event,
    ) -> None:
        archiver = settings.archiver
        self._spark = spark
        self._settings = settings
        self._lake = lake
        self._clock = clock
        self._stop = stop
        self._bronze = Bronze(spark, settings, lake, topics, clock)
        names = {topic.full_name(settings.home.topic_prefix): topic for topic in topics}
        self._refinery = Refinery(spark, lake, settings, names, clock)
        self._upkeep = Upkeep(spark, lake, archiver, clock)
        self.archiving = Part("archiving", archiver.path, clock, archiver.interval)
        self._refining = Part("silver", archiver.path, clock, archiver.silver_interval)
        self._naming = Part("registering", archiver.path, clock, NAMED_EVERY)
        self._has_silver = archiver.silver_interval > 0
        self._archived_ms = 0
        """What had come by then is in bronze."""
        self._doing = ""
        self._turn = 0
        self._looked: Look | None = None

    def once(self) -> None:
        """All that is there now. Raises ArchiveFailed, LakeGone, KafkaError."""
        self._do(self.archiving, self._take_bronze, once=True)
        if self._has_silver:
            self._do(self._refining, self._take_silver, once=True)
        self._look_after_tables()

    def follow(self) -> None:
        """Until told to stop; what fails stops nothing else. Raises LakeGone."""
        self._refining.due_in(min(FIRST, self._settings.archiver.silver_interval))
        while not self._stop.is_set():
            self._do(self.archiving, self._take_bronze)
            if self._has_silver:
                self._do(self._refining, self._take_silver)
            if self._refining.tried or not self._has_silver:
                self._look_after_tables()
            self._stop.wait(LOOK_EVERY)

    def _look_after_tables(self) -> None:
        if self._settings.archiver.schema_name:
            schema = self._settings.archiver.schema_name
            self._do(self._naming, lambda _: register(self._spark, self._lake, schema))
        if not self._stop.is_set():
            self._upkeep.look()

    def _do(
        self, part: Part, step: Callable[[threading.Event], None], *, once: bool = False
    ) -> None:
        if self._stop.is_set() or not (once or part.due):
            return
        self._doing, self._turn = part.name, self._turn + 1
        try:
            part.attempt(step, self._stop, once=once)
        finally:
            self._doing = ""

    def _take_bronze(self, stop: threading.Event) -> None:
        began = self._clock.now_ms()
        self._bronze.take(stop)
        self._archived_ms = began

    def _take_silver(self, stop: threading.Event) -> None:
        progress = Progress(self._spark, self._lake)
        for chunk in NewEvents(self._spark, self._lake, self._clock).since(progress.position):
            if stop.is_set():
                return
            newest: Mapping[str, int] = {}
            if chunk.events is not None:
                started = self._clock.monotonic()
                ensure(self._spark, self._lake)
                written, newest = self._refinery.take(chunk.events)
                for table, rows in written.items():
                    ARCHIVER_REFINED.labels(table).inc(rows)
                seconds = round(self._clock.monotonic() - started, 2)
                log.info("tables written", rows=sum(written.values()), seconds=seconds)
            progress.note(chunk.position, newest, self._archived_ms)

    def interrupt(self) -> None:
        """Give up what is being done; it is done next time."""
        self._spark.interruptAll()

    def look(self) -> Look:
        """What is being done waits; tasks of Spark's that end move, and so does whoever plans.

        May be called from any thread. Raises KafkaError when the home cluster does not answer,
        ArchiveFailed when Spark does not.
        """
        with told_by_spark(self._settings.archiver.path):
            tracker = self._spark.sparkContext.statusTracker()
            stages = tracker.getActiveStageIds()
            infos = [tracker.getStageInfo(stage) for stage in stages]
            tasks = sum(info.numCompletedTasks for info in infos if info)
            mark = self._turn, tuple(stages), tasks, effort()
            look = Look(int(bool(self._doing)), mark, unit="")
            if look.waiting and look == self._looked and self._doing == self.archiving.name:
                # Spark waits for Kafka without a word.
                connect(HOME, HOME, self._settings.home, ANSWER_SECONDS)
            self._looked = look
            return look


STEP_S = 3.0
"""So many CPU seconds are some work: a JVM that waits takes one in a minute or two, for itself."""
_PROC = Path("/proc")


def effort() -> int:
    """Another number whenever Spark's JVM, or Python's workers, have worked; always 0 where a
    system does not say it (no /proc)."""
    # Under spark-submit the JVM has started this process.
    roots = {os.getppid()} if is_submitted(os.environ) else _children(os.getpid())
    return int(sum(map(cpu_seconds, roots)) / STEP_S)


def cpu_seconds(pid: int) -> float:
    """Of a process and all that it has started; 0 when it has ended."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        own = sum(map(int, fields[11:15]))  # its own, and of those that have ended
    except OSError:
        return 0.0
    others = sum(map(cpu_seconds, _children(pid) - {os.getpid()}))
    return own / os.sysconf("SC_CLK_TCK") + others


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for thread in (_PROC / str(pid) / "task").glob("*/children"):
        try:
            found.update(map(int, thread.read_text().split()))
        except OSError:  # the thread has ended
            continue
    return found
