"""Archiving of every topic, until told to stop or until all is there.

In turn: bronze, silver with gold, upkeep.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import structlog
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from warren.clock import Clock, SystemClock
from warren.contracts.topics import ARCHIVED, Topic
from warren.errors import KafkaError, TopicMissing
from warren.kafka.connection import Trouble, connect
from warren.kafka.topics import HOME, await_home, check_topics, ensure_topics
from warren.metrics.archiver import ARCHIVER, ARCHIVER_FAILURES, ARCHIVER_REFINED, ARCHIVER_STALLED
from warren.service import probed, stop_by_signal
from warren.settings import HomeSettings, Settings
from warren.standstill import Look, StandstillWatch, obstacle

from warren_archiver.amount import fit
from warren_archiver.bronze.bronze import ANSWER_SECONDS, Bronze
from warren_archiver.dialect import for_spark, sql
from warren_archiver.errors import JVM_ENDED, ArchiveFailed, archive_failed
from warren_archiver.gold.catalogue import VIEWED, VIEWS
from warren_archiver.lake.lake import Lake, exists
from warren_archiver.layers import LAYERS, name_of
from warren_archiver.refining.new_events import NewEvents, Progress
from warren_archiver.refining.refine import Refinery, ensure
from warren_archiver.session import close_session, open_session
from warren_archiver.spark_failures import SPARK_FAILURES, told_by_spark
from warren_archiver.streaming.upkeep import Upkeep
from warren_archiver.submitted import is_submitted

log = structlog.get_logger(__name__)

FIRST_PAUSE = 5.0  # seconds before what has failed is tried again; doubled each time
LONGEST_PAUSE = 60.0


class Part:
    """Due at once, until something else was said."""

    def __init__(self, name: str, path: str, clock: Clock, every: float) -> None:
        """`name`: for the log, with the `path` of its lake as it was set; `every` so many seconds
        it is due."""
        self.name = name
        self._path = path
        self._clock = clock
        self._every = every
        self._pause = FIRST_PAUSE
        self._at = 0.0
        self.tried = False
        self.problem = ""
        """Why it failed last; empty once it went well."""

    @property
    def due(self) -> bool:
        return self._clock.monotonic() >= self._at

    def due_in(self, seconds: float) -> None:
        self._at = self._clock.monotonic() + seconds

    def attempt(
        self, step: Callable[[threading.Event], None], stop: threading.Event, *, once: bool = False
    ) -> None:
        """Where it fails, it is due after a pause, which gets longer each time.

        Raises ArchiveFailed instead of that with `once`, and where there is no JVM any more.
        """
        self.due_in(self._every)
        try:
            step(stop)
        except (ArchiveFailed, KafkaError, *SPARK_FAILURES) as problem:
            if stop.is_set():  # as systemd does: the JVM was told to stop as well
                log.info(f"{self.name} stopped amid it, which is done again next time")
                return
            failed = _failed(problem, self._path)
            if once or isinstance(problem, JVM_ENDED):
                raise failed from problem
        else:
            self.tried, self.problem, self._pause = True, "", FIRST_PAUSE
            return
        ARCHIVER_FAILURES.inc()
        self.tried, self.problem = True, f"{failed.cause} (see the log)"
        log.error(f"{self.name} failed", problem=failed.cause, again_in=self._pause)
        self.due_in(self._pause)
        self._pause = min(self._pause * 2, max(LONGEST_PAUSE, self._every))


def _failed(problem: Exception, path: str) -> ArchiveFailed:
    if isinstance(problem, ArchiveFailed):
        return problem
    if isinstance(problem, KafkaError):
        return ArchiveFailed(problem.problem)
    return archive_failed(problem, path)


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


LOOK_EVERY = 1.0  # seconds between two looks at what is due
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


STOP_LOOK_EVERY = 0.2  # seconds between two looks whether it shall stop
STOP_GRACE = 4.0  # seconds that what is done has to end by itself, then that it has to give up


def run(settings: Settings, *, once: bool) -> None:
    """Archives until SIGTERM or SIGINT; `once` ends at what was there at the start.

    Raises ArchiverError, SettingsError or, with `once`, KafkaError.
    """
    stop = threading.Event()
    # Nothing but the event: a handler must not call into Spark, whose gateway may be mid-call.
    stop_by_signal(stop.set)
    if not _prepare_topics(settings, stop, once=once):
        return
    spark = open_session(settings.archiver, "warren-archiver", stays=not once)
    stop_by_signal(stop.set)  # Spark has put its own handler for Ctrl-C
    with told_by_spark(settings.archiver.path):
        try:
            archive(spark, settings, stop, once=once, clock=SystemClock())
        except SPARK_FAILURES:
            # As systemd does: the JVM was told to stop as well, and has done so sooner.
            if not stop.is_set():
                raise
            log.info("stopped amid its start")
        finally:
            close_session(spark)


def _prepare_topics(settings: Settings, stop: threading.Event, *, once: bool) -> bool:
    """Whether all topics are there; False when `stop` was set before they were.

    Raises KafkaError with `once`; else it waits.
    """
    home = settings.home
    if once:
        return _prepare(connect(HOME, HOME, home), home)
    waits = Trouble(HOME, SystemClock(), over="the home cluster is as it should be")
    with probed("archiver", settings, ARCHIVER, lambda: waits.look().obstacle):
        return bool(await_home(home, lambda admin: _prepare(admin, home), stop, waits))


def _prepare(admin: AdminClient, home: HomeSettings) -> bool:
    """True. Raises KafkaError for what is missing."""
    if home.create_topics:
        ensure_topics(admin, home)
    elif missing := [p for p in check_topics(admin, home).problems if "missing" in p]:
        raise TopicMissing(HOME, "home.create_topics", missing[0])
    return True


def archive(
    spark: SparkSession,
    settings: Settings,
    stop: threading.Event,
    *,
    once: bool,
    clock: Clock,
    topics: Sequence[Topic] = ARCHIVED,
) -> None:
    """Works in a session that is there already. The topics must exist.

    Raises LakeGone or, with `once`, ArchiveFailed.
    """
    fit(spark, little=True)  # until there is much
    lake = Lake.at(settings.archiver.path)
    lake.ensure(spark)
    work = Work(spark, settings, lake, topics, clock, stop)
    works = {
        "archive": work.look,
        # What keeps it from archiving: it has failed, and did nothing since.
        "archiving": lambda: obstacle(work.archiving.problem),
    }
    watch = StandstillWatch(settings.standstill, works, ARCHIVER_STALLED, clock)
    with probed("archiver", settings, ARCHIVER, lambda: watch.reason or True), watch:
        log.info("archiving", topics=len(topics), lake=lake.root, once=once)
        _until_done(work, work.once if once else work.follow, stop)


def _until_done(work: Work, do: Callable[[], None], stop: threading.Event) -> None:
    """In another thread: Python does not act on a signal amid a call of the JVM.

    Told to stop, it ends between two steps, if these end in time, or is interrupted. Raises what it
    did, but what follows from that.
    """
    pool = ThreadPoolExecutor(1, "archive")
    done = pool.submit(do)
    pool.shutdown(wait=False)  # at its own end Python waits for the last call of the JVM
    while not (done.done() or stop.is_set()):
        wait([done], STOP_LOOK_EVERY)
    wait([done], STOP_GRACE)
    if not done.done():
        work.interrupt()
        wait([done], STOP_GRACE)
    if done.done():
        done.result()
