"""The past of groups, topics and clusters: their last 24 hours, a row a minute.

A topic's minutes come from the groups that consume it: of one that nobody consumes none are known.
"""

import functools
import math
import threading
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from warren.contracts import MINUTE_MS, TrendEvent

HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
STEPS = (MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS)
"""The lengths that are chosen from, milliseconds."""


class Period(NamedTuple):
    """Whole steps of [start, end), Unix milliseconds."""

    start: int
    end: int
    step: int

    @property
    def steps(self) -> list[int]:
        return list(range(self.start, self.end, self.step))


def in_whole_steps(start: int, end: int, step: int) -> Period:
    """Widened to them."""
    return Period(start - start % step, end + -end % step, step)


def shortest_step(length: int, most: int) -> int:
    """Of which fewer than `most` are that long, milliseconds."""
    return next((step for step in STEPS if length // step < most), DAY_MS)


def before_a_day(span: Period, now: int) -> Period | None:
    """Its whole steps that the model has forgotten, or partly; None where it has them all."""
    known_from = now - now % MINUTE_MS - DAY_MS + MINUTE_MS
    end = min(known_from + -known_from % span.step, span.end)
    return Period(span.start, end, span.step) if span.start < known_from else None


DAY = 24 * 60  # minutes
Figure = float | int | None
Kind = Literal["sum", "max", "min", "last"]

KINDS: dict[str, Kind] = {
    "ok_ms": "sum",
    "warn_ms": "sum",
    "err_ms": "sum",
    "lag": "last",
    "lag_max": "max",
    "late_ms": "max",
    "time_to_loss_ms": "min",
    "produced": "sum",
    "consumed": "sum",
    "members": "last",
    "rebalances": "sum",
}
"""How figures of several minutes, or of several events about one, come together."""

_SCALES = {"ok_ms": 1000.0, "warn_ms": 1000.0, "err_ms": 1000.0, "time_to_loss_ms": 3.6e6}
_COUNT, _ROUGH, _SECONDS = "<f4", "<f2", "|u1"
_MOST = {_ROUGH: 65_000.0, _SECONDS: 255.0}
_LEAST = {_ROUGH: -65_000.0, _SECONDS: 0.0}

GROUP = np.dtype(
    [
        *((name, _SECONDS) for name in ("ok_ms", "warn_ms", "err_ms", "rebalances")),
        *((name, _COUNT) for name in ("lag", "lag_max", "late_ms", "produced", "consumed")),
        *((name, _ROUGH) for name in ("time_to_loss_ms", "members")),
    ]
)
"""28 bytes a minute, 40,320 a day. Status to the second; counts and lateness have seven digits,
the time until loss three."""
TOPIC = np.dtype([(name, _COUNT) for name in ("lag_max", "late_ms", "produced", "consumed")])
CLUSTER = np.dtype(
    [
        (name, _COUNT)
        for name in ("ok_ms", "warn_ms", "err_ms", "lag", "late_ms", "time_to_loss_ms", "consumed")
    ]
)


@functools.cache
def _fields(dtype: np.dtype[Any]) -> tuple[tuple[str, float, float, float], ...]:
    """Name, scale, least and largest value of each."""
    kinds = [(name, dtype[name].str) for name in dtype.names or ()]
    return tuple(
        (name, _SCALES.get(name, 1.0), _LEAST.get(kind, -math.inf), _MOST.get(kind, math.inf))
        for name, kind in kinds
    )


class Minutes:
    """A ring of a day's rows. Written by one thread; what others read is whole to the figure."""

    __slots__ = ("_fields", "_rows", "newest", "revision")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._rows = np.zeros(DAY, dtype)
        self._fields = _fields(dtype)
        self.newest = -1
        self.revision = 0
        """Another one whenever the rows are."""
        _forget(self._rows)

    def add(
        self, at: int, figures: Mapping[str, Figure], kinds: Mapping[str, Kind] = KINDS
    ) -> None:
        """Takes figures of the minute that begins `at`, together with what is known of it by
        `kinds`; those of more than a day before the newest are left out.
        """
        minute = at // MINUTE_MS
        if minute <= self.newest - DAY:
            return
        if minute > self.newest:
            if self.newest < 0 or minute - self.newest >= DAY:
                _forget(self._rows)
            else:
                for passed in range(self.newest + 1, minute + 1):
                    _forget(self._rows[passed % DAY : passed % DAY + 1])
            self.newest = minute
        self.revision += 1
        # As tuples: figure by figure takes half as long again, for a day of many groups minutes.
        index = minute % DAY
        before = self._rows[index].item()
        self._rows[index] = tuple(
            old
            if (value := figures.get(name)) is None
            else max(least, min(_together(kinds[name], old, value / scale), most))
            for old, (name, scale, least, most) in zip(before, self._fields, strict=True)
        )

    def columns(self, start: int, end: int, step: int) -> dict[str, list[Figure]]:
        """Figures of each step of [start, end), whole steps of whole minutes, Unix milliseconds;
        None where nothing is known. How long each status lasted is known where any did.
        """
        per_step, count = step // MINUTE_MS, (end - start) // step
        begin = start // MINUTE_MS
        # Somebody may ask for years: looked at are the steps alone that have a minute of the day.
        first = min(max((self.newest - DAY + 1 - begin) // per_step, 0), count)
        last = max(min((self.newest - begin) // per_step + 1, count), first)
        known = self._steps(begin + first * per_step, begin + last * per_step, per_step)
        before, after = [None] * first, [None] * (count - last)
        return {
            name: [*before, *(None if v != v else round(v) for v in values.tolist()), *after]
            for name, values in known.items()
        }

    def _steps(self, first: int, end: int, per_step: int) -> dict[str, NDArray[np.float64]]:
        """NaN where nothing is known. Of minutes [first, end), whole steps."""
        minutes = np.arange(first, end)
        rows = self._rows[minutes % DAY]  # a copy
        _forget(rows, (minutes > self.newest) | (minutes <= self.newest - DAY))
        found = {
            name: _steps(KINDS[name], rows[name].astype(np.float64), per_step)
            * _SCALES.get(name, 1.0)
            for name in rows.dtype.names or ()
        }
        if "ok_ms" in found:
            unseen = found["ok_ms"] + found["warn_ms"] + found["err_ms"] == 0
            for name in ("ok_ms", "warn_ms", "err_ms", "rebalances"):
                if name in found:
                    found[name][unseen] = np.nan
        return found


def _forget(rows: NDArray[Any], where: NDArray[np.bool_] | None = None) -> None:
    for name in rows.dtype.names or ():
        unknown = 0 if rows.dtype[name].kind == "u" or name in _STATUSES else np.nan
        rows[name][slice(None) if where is None else where] = unknown


_STATUSES = ("ok_ms", "warn_ms", "err_ms")


def _together(kind: Kind, before: float, more: float) -> float:
    if before != before or kind == "last":  # not a number: unknown
        return more
    if kind == "sum":
        return before + more
    return max(before, more) if kind == "max" else min(before, more)


def _steps(kind: Kind, values: NDArray[np.float64], per_step: int) -> NDArray[np.float64]:
    """Of each so many minutes; NaN where none of them is known."""
    if per_step == 1:
        return values
    table = values.reshape(-1, per_step)
    if kind == "max":
        return np.asarray(np.fmax.reduce(table, axis=1), np.float64)
    if kind == "min":
        return np.asarray(np.fmin.reduce(table, axis=1), np.float64)
    known = ~np.isnan(table)
    if kind == "sum":
        return np.where(known.any(axis=1), np.where(known, table, 0).sum(axis=1), np.nan)
    newest = per_step - 1 - known[:, ::-1].argmax(axis=1)
    found: NDArray[np.float64] = table[np.arange(len(table)), newest]
    return found


Name = tuple[str, str]
_OF_CLUSTERS = KINDS | {"lag": "sum"}  # of several groups in one minute
_OF_TOPICS = KINDS | {"produced": "max"}  # each group has seen the same records
Key = TypeVar("Key", str, Name)
Columns = dict[str, list[Figure]]


class Past:
    """Fed by one thread, read by many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[Name, Minutes] = {}
        self._topics: dict[Name, Minutes] = {}
        self._clusters: dict[str, Minutes] = {}

    def begin_again(self) -> None:
        """Forgets all: it is about to be read once more."""
        with self._lock:
            self._groups, self._topics, self._clusters = {}, {}, {}

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.trends`, once each: figures of one minute add up.

        Raises ContractViolation.
        """
        event = TrendEvent.from_record(key, value)
        with self._lock:
            self._apply(event)

    def _apply(self, event: TrendEvent) -> None:
        status = event.status_ms
        figures: dict[str, Figure] = {
            "ok_ms": status.get("OK", 0),
            "warn_ms": status.get("WARN", 0),
            "err_ms": status.get("ERR", 0),
            "lag": event.lag,
            "lag_max": event.lag_max,
            "late_ms": event.late_ms,
            "time_to_loss_ms": event.time_to_loss_ms,
            "produced": event.produced,
            "consumed": event.consumed,
            "members": event.members,
            "rebalances": event.rebalances,
        }
        _of(self._groups, (event.cluster, event.group), GROUP).add(event.minute, figures)
        _of(self._clusters, event.cluster, CLUSTER).add(event.minute, figures, _OF_CLUSTERS)
        topics = event.topics
        for name, lag, produced, consumed, late in zip(
            topics.topic, topics.lag, topics.produced, topics.consumed, topics.late_ms, strict=True
        ):
            own = {"lag_max": lag, "produced": produced, "consumed": consumed, "late_ms": late}
            _of(self._topics, (event.cluster, name), TOPIC).add(event.minute, own, _OF_TOPICS)

    def forget_before(self, at: int) -> None:
        """Drops what has nothing newer than `at`, Unix milliseconds."""
        with self._lock:
            self._groups = _newer(self._groups, at)
            self._topics = _newer(self._topics, at)
            self._clusters = _newer(self._clusters, at)

    def group(self, cluster: str, group: str, start: int, end: int, step: int) -> Columns:
        return _columns(self._groups.get((cluster, group)), GROUP, start, end, step)

    def revision_of_group(self, cluster: str, group: str) -> tuple[int, int]:
        """Another one whenever something of the group's past is."""
        minutes = self._groups.get((cluster, group))
        # With what they are read into, as all may be read once more.
        return (0, 0) if minutes is None else (id(minutes), minutes.revision)

    def topic(self, cluster: str, topic: str, start: int, end: int, step: int) -> Columns:
        return _columns(self._topics.get((cluster, topic)), TOPIC, start, end, step)

    def cluster(self, cluster: str, start: int, end: int, step: int) -> Columns:
        return _columns(self._clusters.get(cluster), CLUSTER, start, end, step)


def _of(found: dict[Key, Minutes], name: Key, dtype: np.dtype[np.void]) -> Minutes:
    if (minutes := found.get(name)) is None:
        minutes = found[name] = Minutes(dtype)
    return minutes


def _newer(found: dict[Key, Minutes], at: int) -> dict[Key, Minutes]:
    return {name: minutes for name, minutes in found.items() if minutes.newest * MINUTE_MS >= at}


def _columns(
    minutes: Minutes | None, dtype: np.dtype[np.void], start: int, end: int, step: int
) -> Columns:
    return (minutes or Minutes(dtype)).columns(start, end, step)
