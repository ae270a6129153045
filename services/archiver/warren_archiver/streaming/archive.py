"""Archiving of every topic by one streaming query, until told to stop or until all is there."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence

import structlog
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from warren.clock import Clock, SystemClock
from warren.contracts.topics import CATALOGUE, Topic
from warren.errors import KafkaError, TopicMissing
from warren.kafka.connection import connect
from warren.kafka.home import await_home
from warren.kafka.topic_check import check_topics
from warren.kafka.topics import HOME, ensure_topics
from warren.kafka.trouble import Trouble
from warren.metrics.archiver import ARCHIVER, ARCHIVER_STALLED
from warren.probe import serve
from warren.settings import HomeSettings, Settings
from warren.standstill_watch import StandstillWatch

from warren_archiver.lake.lake import Lake
from warren_archiver.session import close_session, open_session
from warren_archiver.spark_failures import SPARK_FAILURES, told_by_spark
from warren_archiver.streaming.event_query import EventQuery
from warren_archiver.streaming.gold_job import GoldJob
from warren_archiver.streaming.silver_query import SilverQuery
from warren_archiver.streaming.upkeep import Upkeep

log = structlog.get_logger(__name__)
LOOK_EVERY = 1.0  # seconds
STOP_GRACE = 15.0  # seconds that a batch has to end by itself


def run(settings: Settings, *, once: bool) -> None:
    """Archives until SIGTERM or SIGINT; `once` ends at what was there at the start.

    Raises ArchiverError, SettingsError or, with `once`, KafkaError.
    """
    stop = threading.Event()
    _on_signals(stop)
    if not _prepare_topics(settings, stop, once=once):
        return
    spark = open_session(settings.archiver, "warren-archiver")
    _on_signals(stop)  # Spark has put its own handler for Ctrl-C
    with told_by_spark(settings.archiver.path):
        try:
            archive(spark, settings, stop, once=once, clock=SystemClock())
        except SPARK_FAILURES:
            # As systemd does: the JVM was told to stop as well, and has done so sooner.
            if not stop.is_set():
                raise
            log.info("stopped amid a batch, which is repeated next time")
        finally:
            close_session(spark)


def _on_signals(stop: threading.Event) -> None:
    """Nothing but the event: a handler must not call into Spark, whose gateway may be mid-call."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())


def _prepare_topics(settings: Settings, stop: threading.Event, *, once: bool) -> bool:
    """Whether all topics are there; False when `stop` was set before they were.

    Raises KafkaError with `once`; else it waits.
    """
    home = settings.home
    if once:
        return _prepare(connect(HOME, HOME, home), home)
    waits = Trouble(HOME, SystemClock(), over="the home cluster is as it should be")
    stop_probe = serve(
        settings.archiver.metrics_port,
        ARCHIVER,
        lambda: waits.look().obstacle,
        setting="archiver.metrics_port",
        host=settings.probe.host,
    )
    try:
        return bool(await_home(home, lambda admin: _prepare(admin, home), stop, waits))
    finally:
        stop_probe()


def _prepare(admin: AdminClient, home: HomeSettings) -> bool:
    """True. Raises KafkaError for what is missing."""
    if home.create_topics:
        ensure_topics(admin, home)
    elif missing := [p for p in check_topics(admin, home).problems if "missing" in p]:
        raise TopicMissing(HOME, "home.create_topics", missing[0])
    _tell_of_early_compaction(admin, home)
    return True


def _tell_of_early_compaction(admin: AdminClient, home: HomeSettings) -> None:
    """Topics of an earlier Warren keep what was created with them."""
    try:
        problems = check_topics(admin, home).problems
    except KafkaError:
        return  # the right to see it is not needed otherwise
    for problem in problems:
        if "min.compaction.lag.ms" in problem:
            log.warning("records may be compacted before they are archived", problem=problem)


def archive(
    spark: SparkSession,
    settings: Settings,
    stop: threading.Event,
    *,
    once: bool,
    clock: Clock,
    topics: Sequence[Topic] = CATALOGUE,
) -> None:
    """Runs the query in a session that is there already. The topics must exist.

    Raises LakeGone or, with `once`, ArchiveFailed.
    """
    lake = Lake.at(settings.archiver.path)
    lake.ensure(spark)
    admin = connect(HOME, "home", settings.home)
    query = EventQuery(spark, settings, lake, topics, clock, admin)
    has_silver = settings.archiver.silver_interval > 0
    silver = SilverQuery(spark, lake, settings, topics, clock) if has_silver else None
    has_gold = has_silver and settings.archiver.gold_interval > 0
    gold = GoldJob(spark, lake, settings, clock) if has_gold else None
    works = {"archive": query.look, "archiving": query.look_at_failures}
    watch = StandstillWatch(settings.standstill, works, ARCHIVER_STALLED, clock)
    stop_probe = serve(
        settings.archiver.metrics_port,
        ARCHIVER,
        lambda: watch.reason or query.running,
        setting="archiver.metrics_port",
        host=settings.probe.host,
    )
    try:
        if silver is not None:
            silver.find_checkpoint()
        query.start(once=once)
        watch.start()
        log.info("archiving", topics=len(topics), lake=lake.root, once=once)
        upkeep = Upkeep(spark, lake, settings.archiver, clock)
        if once:
            _follow_once(query, silver, stop)
            if gold is not None and not stop.is_set():
                gold.run()
        else:
            _follow(query, silver, gold, upkeep, stop)
    finally:
        watch.stop()
        if gold is not None:
            gold.stop()
        _stop(query, silver, clock)
        stop_probe()


def _follow(
    query: EventQuery,
    silver: SilverQuery | None,
    gold: GoldJob | None,
    upkeep: Upkeep,
    stop: threading.Event,
) -> None:
    if silver is not None:
        silver.start(once=False)
    while not stop.is_set():
        query.watch()
        if silver is not None:
            silver.watch()
        if not query.busy and (silver is None or not silver.running):
            _do_the_rest(silver, gold, upkeep)
        stop.wait(LOOK_EVERY)


def _do_the_rest(silver: SilverQuery | None, gold: GoldJob | None, upkeep: Upkeep) -> None:
    """At a quiet moment: after silver has taken in what there is, or while it fails."""
    if silver is None:
        upkeep.look(0)
    elif silver.settled:
        if gold is not None:
            gold.look()
        if gold is None or not gold.running:
            upkeep.look(silver.read_ago)
    elif silver.failing and (gold is None or not gold.running):
        upkeep.look(None)


def _follow_once(query: EventQuery, silver: SilverQuery | None, stop: threading.Event) -> None:
    """Silver after all is archived; gold comes after that."""
    for part in (query, silver):
        if part is None:
            continue
        if part is silver:
            part.start(once=True)
        active = True
        while active and not stop.is_set():
            active = part.running  # asked before: its last batch is looked at then
            part.watch()
            stop.wait(LOOK_EVERY if active else 0)


def _stop(query: EventQuery, silver: SilverQuery | None, clock: Clock) -> None:
    """Ends the queries between two batches, if these end in time."""
    parts = [part for part in (query, silver) if part is not None]
    deadline = clock.monotonic() + STOP_GRACE
    pause = threading.Event()
    while any(part.busy for part in parts) and clock.monotonic() < deadline:
        pause.wait(0.1)
    for part in parts:
        part.stop()
