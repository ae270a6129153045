"""A query that has failed is started again after a pause, which gets longer each time."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from warren.clock import Clock
from warren.errors import KafkaError
from warren.metrics.archiver import ARCHIVER_FAILURES

from warren_archiver.errors import ArchiveFailed, archive_failed

log = structlog.get_logger(__name__)


class Restarts:
    """Of one query. It is due at once until something else was said."""

    def __init__(self, clock: Clock, what: str, path: str, *, first: float, longest: float) -> None:
        """`what`: what fails, for the log, and the `path` of its lake as it was set; `first` and
        `longest` pause, seconds."""
        self._clock = clock
        self._what = what
        self._path = path
        self._first = self._pause = first
        self._longest = longest
        self._at = 0.0
        self.problem = ""
        """Why the query failed last; empty once it goes on."""
        self.once = False
        """A query that should run once is not started again."""

    @property
    def due(self) -> bool:
        return self._clock.monotonic() >= self._at

    def due_in(self, seconds: float) -> None:
        self._at = self._clock.monotonic() + seconds

    def went_well(self) -> None:
        """The next pause is as short as the first one."""
        self._pause = self._first

    def goes_on(self) -> None:
        """The query works, be there something to do or not."""
        self.problem = ""

    def attempt(self, step: Callable[[], None], stop: Callable[[], None]) -> bool:
        """Whether it went well; if not, `stop` was called, and it is due after a pause.

        Raises ArchiveFailed instead of that with `once`.
        """
        try:
            step()
            return True
        except ArchiveFailed as failure:
            failed = failure
        except (PySparkException, Py4JError) as problem:
            failed = archive_failed(problem, self._path)
        except KafkaError as problem:
            failed = ArchiveFailed(problem.problem)
        stop()
        if self.once:
            raise failed
        ARCHIVER_FAILURES.inc()
        self.problem = f"{failed.cause} (see the log)"
        log.error(f"{self._what} failed", problem=failed.cause, again_in=self._pause)
        self.due_in(self._pause)
        self._pause = min(self._pause * 2, self._longest)
        return False
