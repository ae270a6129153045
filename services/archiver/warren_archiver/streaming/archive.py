"""Archiving of every topic, until told to stop or until all is there."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import structlog
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from warren.clock import Clock, SystemClock
from warren.contracts.topics import ARCHIVED, Topic
from warren.errors import TopicMissing
from warren.kafka.connection import connect
from warren.kafka.topic_check import check_topics
from warren.kafka.topics import HOME, await_home, ensure_topics
from warren.kafka.trouble import Trouble
from warren.metrics.archiver import ARCHIVER, ARCHIVER_STALLED
from warren.service import probed, stop_by_signal
from warren.settings import HomeSettings, Settings
from warren.standstill import StandstillWatch, obstacle

from warren_archiver.amount import fit
from warren_archiver.lake.lake import Lake
from warren_archiver.session import close_session, open_session
from warren_archiver.spark_failures import SPARK_FAILURES, told_by_spark
from warren_archiver.streaming.work import Work

log = structlog.get_logger(__name__)
LOOK_EVERY = 0.2  # seconds
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
        wait([done], LOOK_EVERY)
    wait([done], STOP_GRACE)
    if not done.done():
        work.interrupt()
        wait([done], STOP_GRACE)
    if done.done():
        done.result()
