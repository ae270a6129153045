"""What was more than a day ago, from the archive's minutes; opened when somebody first asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import structlog
from warren.contracts import MINUTE_MS
from warren.errors import WarrenError
from warren.settings import ArchiverSettings

from warren_api.model.past import Columns, Past, Period

if TYPE_CHECKING:
    from warren.history.history import History, Point

log = structlog.get_logger(__name__)

TURN_SECONDS = 2.0
"""It answers one at a time; who would wait for longer does without."""
BUSY = "the archive answers somebody else: what was more than a day ago is not shown"
MISSING = "the archive is not read: warren-kafka[history] is not installed"
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
            if self._history is None:
                from warren.history.history import History
                from warren.history.reader_options import reader_options

                self._history = History(self._settings.path, reader_options(self._settings))
            return ask(self._history), None
        except ImportError:
            return [], self._warn(MISSING)
        except WarrenError as error:
            return [], self._warn(f"the archive cannot be read: {error}")
        finally:
            self._turn.release()

    def _warn(self, doubt: str) -> str:
        """In the log when it is news."""
        if doubt != self._told:
            log.warning("the archive's past is not shown", problem=doubt)
        self._told = doubt
        return doubt


class Known(NamedTuple):
    """Figures of each step. `doubt`: why some of them are missing."""

    columns: Columns
    doubt: str | None = None


NOTHING = "the archive has nothing of what was more than a day ago"
Fill = Callable[[Columns, str, str, int, int, int], "str | None"]
"""Figures of a cluster's group or topic, into the columns; what is missing and why."""


class LongPast:
    """A day from memory, and what was before from the archive, which is asked once a minute for the
    same. `archive`: None where nothing is asked of one. `older`: what it is asked for.
    """

    def __init__(self, past: Past, archive: Archive | None, answers: int = 64) -> None:
        self._past = past
        self._archive = archive
        self._archived = lru_cache(answers)(_archived)

    def group(self, cluster: str, group: str, of: Period, older: Period | None, now: int) -> Known:
        fill = self._archive.group if self._archive else None
        return self._fill(self._past.group(cluster, group, *of), fill, cluster, group, older, now)

    def topic(self, cluster: str, topic: str, of: Period, older: Period | None, now: int) -> Known:
        fill = self._archive.topic if self._archive else None
        return self._fill(self._past.topic(cluster, topic, *of), fill, cluster, topic, older, now)

    def _fill(
        self,
        found: Columns,
        fill: Fill | None,
        cluster: str,
        name: str,
        older: Period | None,
        now: int,
    ) -> Known:
        if fill is None or older is None:
            return Known(found)
        known = self._archived(fill, tuple(found), cluster, name, older, now // MINUTE_MS)
        for column, values in known.columns.items():
            for number, value in enumerate(values):
                if value is not None:
                    found[column][number] = value
        return Known(found, known.doubt)


def _archived(
    fill: Fill, columns_of: Sequence[str], cluster: str, name: str, older: Period, _minute: int
) -> Known:
    columns: Columns = {column: [None] * len(older.steps) for column in columns_of}
    doubt = fill(columns, cluster, name, *older)
    if doubt is None and all(value is None for values in columns.values() for value in values):
        doubt = NOTHING
    return Known(columns, doubt)
