"""What was more than a day ago, from the archive's minutes; opened when somebody first asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog
from warren.errors import WarrenError
from warren.settings import ArchiverSettings

from warren_api.model.past import Columns

if TYPE_CHECKING:
    from warren.history.history import History, Point

log = structlog.get_logger(__name__)

TURN_SECONDS = 2.0
"""It answers one at a time; who would wait for longer does without."""
BUSY = "the archive answers somebody else: what was more than a day ago is not shown"
MISSING = "the archive is not read: warren-shared[history] is not installed"
_FIGURES = ("lag", "lag_max", "produced", "consumed", "late_ms", "time_to_loss_ms")
Ask = Callable[["History"], "list[Point]"]


class Archive:
    """Of one lake. Its methods put what its minutes say into `found`, for steps of [start, end)
    that the model has forgotten, or has only the end of, and say why they could not.
    """

    def __init__(self, settings: ArchiverSettings) -> None:
        self._settings = settings
        self._turn = threading.Lock()
        self._history: History | None = None
        self._told = ""

    def group(
        self, found: Columns, cluster: str, group: str, start: int, end: int, step: int
    ) -> str | None:
        """Of a consumer group. Its members and statuses are not in the archive's minutes."""
        return self._fill(found, start, step, lambda h: h.group(cluster, group, start, end, step))

    def topic(
        self, found: Columns, cluster: str, topic: str, start: int, end: int, step: int
    ) -> str | None:
        """Of a topic: only what was produced is known."""
        return self._fill(found, start, step, lambda h: h.topic(cluster, topic, start, end, step))

    def close(self) -> None:
        """When nobody asks any more."""
        if self._history is not None:
            self._history.close()
        self._history = None

    def _fill(self, found: Columns, start: int, step: int, ask: Ask) -> str | None:
        points, doubt = self._points(ask)
        for point in points:
            number = (point.at - start) // step
            for name in _FIGURES:
                value = getattr(point, name)
                if name in found and value is not None:
                    found[name][number] = value
        return doubt

    def _points(self, ask: Ask) -> tuple[list[Point], str | None]:
        if not self._turn.acquire(timeout=TURN_SECONDS):
            return [], BUSY
        try:
            return ask(self._opened()), None
        except ImportError:
            return [], self._warn(MISSING)
        except WarrenError as error:
            return [], self._warn(f"the archive cannot be read: {error}")
        finally:
            self._turn.release()

    def _opened(self) -> History:
        if self._history is None:
            from warren.history.history import History
            from warren.history.reader_options import reader_options

            self._history = History(self._settings.path, reader_options(self._settings))
        return self._history

    def _warn(self, doubt: str) -> str:
        """In the log when it is news."""
        if doubt != self._told:
            log.warning("the archive's past is not shown", problem=doubt)
        self._told = doubt
        return doubt
