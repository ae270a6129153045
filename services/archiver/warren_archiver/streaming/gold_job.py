"""Gold brought up to silver now and then, in a thread beside the queries."""

from __future__ import annotations

import threading

import structlog
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from warren.clock import Clock
from warren.metrics.archiver import (
    ARCHIVER_FAILURES,
    ARCHIVER_GOLD_ROWS,
    ARCHIVER_GOLD_TIMESTAMP,
)
from warren.settings import Settings

from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.gold.gold import Gold, ensure
from warren_archiver.lake.lake import Lake

log = structlog.get_logger(__name__)
_JOBS = "warren-gold"
STOP_GRACE = 10.0  # seconds


class GoldJob:
    """What fails here stops nothing else, and is tried again after an interval."""

    def __init__(self, spark: SparkSession, lake: Lake, settings: Settings, clock: Clock) -> None:
        self._spark = spark
        self._lake = lake
        self._settings = settings
        self._clock = clock
        self._thread: threading.Thread | None = None
        self._next = clock.monotonic()
        self._stopped = False

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def look(self) -> None:
        """When silver has just been brought up; does nothing until it is time."""
        if self.running or self._clock.monotonic() < self._next:
            return
        self._next = self._clock.monotonic() + self._settings.archiver.gold_interval
        # No daemon: Python would not wait for its last call of the JVM.
        self._thread = threading.Thread(target=self._try, name="gold")
        self._thread.start()

    def run(self) -> None:
        """Now, and here. Raises ArchiveFailed."""
        started = self._clock.monotonic()
        try:
            ensure(self._spark, self._lake)
            written = Gold(self._spark, self._lake, self._settings, self._clock).catch_up()
        except (PySparkException, Py4JError) as problem:
            raise ArchiveFailed(spark_cause(problem)) from problem
        for table, rows in written.items():
            ARCHIVER_GOLD_ROWS.labels(table).inc(rows)
        ARCHIVER_GOLD_TIMESTAMP.set(self._clock.now_ms() / 1000)
        seconds = round(self._clock.monotonic() - started, 2)
        log.info("gold written", rows=sum(written.values()), seconds=seconds)

    def stop(self) -> None:
        """What is being made is given up, and made next time."""
        if self._thread is None:
            return
        self._stopped = True
        self._spark.interruptTag(_JOBS)
        self._thread.join(STOP_GRACE)

    def _try(self) -> None:
        try:
            self._spark.addTag(_JOBS)
            self.run()
        except (ArchiveFailed, PySparkException, Py4JError) as problem:
            if self._stopped:
                log.info("gold given up, made at the next start")
                return
            ARCHIVER_FAILURES.inc()
            cause = problem.cause if isinstance(problem, ArchiveFailed) else spark_cause(problem)
            log.error("gold failed", problem=cause, again_in=self._settings.archiver.gold_interval)
