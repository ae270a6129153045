"""A part of the work: when it is due, and what follows where it fails."""

import threading
from collections.abc import Callable

import structlog
from warren.clock import Clock
from warren.errors import KafkaError
from warren.metrics.archiver import ARCHIVER_FAILURES

from warren_archiver.errors import JVM_ENDED, ArchiveFailed, archive_failed
from warren_archiver.spark_failures import SPARK_FAILURES

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
