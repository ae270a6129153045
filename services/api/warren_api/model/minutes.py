"""The last 24 hours of one thing, a row a minute, in one NumPy array."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from warren.contracts import MINUTE_MS

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

    __slots__ = ("_fields", "_newest", "_rows", "revision")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._rows = np.zeros(DAY, dtype)
        self._fields = _fields(dtype)
        self._newest = -1
        self.revision = 0
        """Another one whenever the rows are."""
        _forget(self._rows)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    @property
    def newest_at(self) -> int:
        """Begin of the newest minute, Unix milliseconds."""
        return self._newest * MINUTE_MS

    def add(
        self, at: int, figures: Mapping[str, Figure], kinds: Mapping[str, Kind] = KINDS
    ) -> None:
        """Takes figures of the minute that begins `at`, together with what is known of it by
        `kinds`; those of more than a day before the newest are left out.
        """
        minute = at // MINUTE_MS
        if minute <= self._newest - DAY:
            return
        if minute > self._newest:
            self._advance(minute)
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

    def _advance(self, minute: int) -> None:
        if self._newest < 0 or minute - self._newest >= DAY:
            _forget(self._rows)
        else:
            for passed in range(self._newest + 1, minute + 1):
                _forget(self._rows[passed % DAY : passed % DAY + 1])
        self._newest = minute

    def columns(self, start: int, end: int, step: int) -> dict[str, list[Figure]]:
        """Figures of each step of [start, end), whole steps of whole minutes, Unix milliseconds;
        None where nothing is known. How long each status lasted is known where any did.
        """
        per_step, count = step // MINUTE_MS, (end - start) // step
        begin = start // MINUTE_MS
        # Somebody may ask for years: looked at are the steps alone that have a minute of the day.
        first = min(max((self._newest - DAY + 1 - begin) // per_step, 0), count)
        last = max(min((self._newest - begin) // per_step + 1, count), first)
        known = self._steps(begin + first * per_step, begin + last * per_step, per_step)
        before, after = [None] * first, [None] * (count - last)
        return {name: [*before, *_listed(values), *after] for name, values in known.items()}

    def _steps(self, first: int, end: int, per_step: int) -> dict[str, NDArray[np.float64]]:
        """NaN where nothing is known. Of minutes [first, end), whole steps."""
        minutes = np.arange(first, end)
        rows = self._rows[minutes % DAY]  # a copy
        _forget(rows, (minutes > self._newest) | (minutes <= self._newest - DAY))
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


def _listed(values: NDArray[np.float64]) -> list[Figure]:
    return [None if value != value else round(value) for value in values.tolist()]
