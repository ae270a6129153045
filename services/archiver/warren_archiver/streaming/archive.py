"""One pass: archive what every topic has now. In turn: bronze, silver with gold, names, upkeep.

What fails ends the pass with its reason. Each step can be repeated, so the next pass does what is
left, also after a kill.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog
from pyspark.sql import SparkSession
from warren.clock import Clock, SystemClock
from warren.contracts.topics import ARCHIVED, Topic
from warren.errors import TopicMissing
from warren.kafka.connection import connect
from warren.kafka.topics import HOME, check_topics, ensure_topics
from warren.metrics.archiver import ARCHIVER_REFINED, ARCHIVER_STALLED
from warren.settings import HomeSettings, Settings
from warren.standstill import Look, StandstillWatch, end_process

from warren_archiver.amount import fit
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.dialect import for_spark, sql
from warren_archiver.gold.catalogue import VIEWED, VIEWS
from warren_archiver.lake.lake import Lake, exists
from warren_archiver.layers import LAYERS, name_of
from warren_archiver.passes.parent import PREFIX
from warren_archiver.refining.new_events import NewEvents, Progress
from warren_archiver.refining.refine import Refinery, ensure
from warren_archiver.session import close_session, open_session
from warren_archiver.spark_failures import told_by_spark
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


class Work:
    """The steps of a pass, in one thread; any other may look at them."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        lake: Lake,
        topics: Sequence[Topic],
        clock: Clock,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._lake = lake
        self._clock = clock
        self._bronze = Bronze(spark, settings, lake, topics, clock)
        names = {topic.full_name(settings.home.topic_prefix): topic for topic in topics}
        self._refinery = Refinery(spark, lake, settings, names, clock)

    def run(self) -> None:
        """Archive all that is there now. Raises LakeGone, AnotherWrites, KafkaError, or what Spark
        raises."""
        began = self._clock.now_ms()
        self._bronze.take()
        self._refine(began)
        if schema := self._settings.archiver.schema_name:
            register(self._spark, self._lake, schema)
        Upkeep(self._spark, self._lake, self._settings.archiver, self._clock).look()

    def _refine(self, archived_ms: int) -> None:
        """Bring silver and gold up to bronze, which has what had come by `archived_ms`."""
        progress = Progress(self._spark, self._lake)
        for chunk in NewEvents(self._spark, self._lake, self._clock).since(progress.position):
            newest: Mapping[str, int] = {}
            if chunk.events is not None:
                started = self._clock.monotonic()
                ensure(self._spark, self._lake)
                written, newest = self._refinery.take(chunk.events)
                for table, rows in written.items():
                    ARCHIVER_REFINED.labels(table).inc(rows)
                seconds = round(self._clock.monotonic() - started, 2)
                log.info("tables written", rows=sum(written.values()), seconds=seconds)
            progress.note(chunk.position, newest, archived_ms)

    def look(self) -> Look:
        """Look whether the pass moves: a task of Spark's has ended, or the JVM has used CPU, as it
        does while it plans.

        May be called from any thread. Raises ArchiveFailed when Spark does not answer.
        """
        with told_by_spark(self._settings.archiver.path):
            tracker = self._spark.sparkContext.statusTracker()
            stages = tracker.getActiveStageIds()
            infos = [tracker.getStageInfo(stage) for stage in stages]
            tasks = sum(info.numCompletedTasks for info in infos if info)
            return Look(1, (tuple(stages), tasks, effort()), unit="")


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


def run(settings: Settings) -> None:
    """Do one pass in a Spark session of its own. SIGTERM and SIGINT end it at once: the next pass
    repeats what was not committed.

    Raises ArchiverError, SettingsError or KafkaError.
    """
    _end_by_signal()
    prepare_topics(settings.home)
    spark = open_session(settings.archiver, "warren-archiver")
    _end_by_signal()  # Spark has put its own handler for Ctrl-C
    try:
        archive(spark, settings, clock=SystemClock())
    finally:
        close_session(spark)


def prepare_topics(home: HomeSettings) -> None:
    """Create topics that are missing, where that is allowed. Raises KafkaError, which names one."""
    admin = connect(HOME, HOME, home)
    if home.create_topics:
        ensure_topics(admin, home)
    elif missing := [p for p in check_topics(admin, home).problems if "missing" in p]:
        raise TopicMissing(HOME, "home.create_topics", missing[0])


def _end_by_signal() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))


def _end_hung() -> None:
    """Say why in the line that whoever started the pass looks for."""
    print(f"{PREFIX}the pass hung (standstill.exit_after)", file=sys.stderr)
    end_process()


def archive(
    spark: SparkSession, settings: Settings, *, clock: Clock, topics: Sequence[Topic] = ARCHIVED
) -> None:
    """Do one pass in this session. A pass that hangs ends the process, exit code 1.

    Raises ArchiverError or KafkaError, also where a topic is missing.
    """
    with told_by_spark(settings.archiver.path):
        fit(spark, little=True)  # until there is much
        lake = Lake.at(settings.archiver.path)
        lake.ensure(spark)
        work = Work(spark, settings, lake, topics, clock)
        works = {"archive": work.look}
        with StandstillWatch(settings.standstill, works, ARCHIVER_STALLED, clock, _end_hung):
            log.info("archiving", topics=len(topics), lake=lake.root)
            work.run()
