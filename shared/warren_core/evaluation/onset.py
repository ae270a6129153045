"""Onset: when the troubles began that partitions are in. Windows forget: ten commits may be 10 s.

Kept while a partition is not OK, so that an explanation speaks of the whole time, and not of that
which the window happens to span.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status

from warren_core.evaluation.predicates import NO_REWIND, first_rewind
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64, Windows


class Began(IntEnum):
    """What is remembered of each partition; UNKNOWN in those that are OK. Unix milliseconds."""

    OFFSET = 0  # the newest commit's
    STANDS_SINCE = 1  # commit time of the first one with that offset, at the latest
    REWOUND_FROM = 2  # the offset before it went back; UNKNOWN where it has not
    REWOUND_AT = 3


@dataclass(frozen=True, slots=True)
class Onset:
    """Of P partitions."""

    marks: Int64  # [Began, partition]

    @property
    def was_bad(self) -> Bools:
        """[partition] it was not OK."""
        bad: Bools = self.marks[Began.STANDS_SINCE] != UNKNOWN
        return bad

    def take(self, rows: Int64) -> Onset:
        """Of these partitions; a negative row is one of which nothing is known."""
        if np.array_equal(rows, np.arange(self.marks.shape[1])):  # as nearly always
            return self
        if not self.marks.shape[1]:
            return Onset(np.full((len(Began), len(rows)), UNKNOWN, np.int64))
        return Onset(np.where(rows >= 0, self.marks[:, rows], UNKNOWN))


def onset_of(windows: Windows, status: NDArray[np.uint8], before: Onset | None) -> Onset | None:
    """What is remembered now; None where nothing is wrong. `before` has the same partitions."""
    is_bad = status > Status.OK
    if before is not None and _is_same(before, windows, status, is_bad):
        return before
    bad = np.flatnonzero(is_bad)
    if not len(bad):
        return None
    known = np.full((len(Began), len(bad)), UNKNOWN, np.int64)
    if before is not None:
        known = before.marks[:, bad]
    some = windows if len(bad) == len(status) else windows.take(bad)
    offset = some.newest(Column.OFFSET)
    # [partition] commit time of the first of the newest commits, all with that offset.
    same = some.occupied & (some.column(Column.OFFSET) == offset[:, None])
    run = np.logical_and.accumulate(same[:, ::-1], axis=1).sum(axis=1)
    slots = some.intervals - np.maximum(run, 1)
    times: Int64 = some.column(Column.COMMITTED_AT)[np.arange(len(slots)), slots]
    since = times
    stays = (known[Began.OFFSET] == offset) & (known[Began.STANDS_SINCE] != UNKNOWN)
    marks = np.empty_like(known)
    marks[Began.OFFSET] = offset
    marks[Began.STANDS_SINCE] = np.where(stays, known[Began.STANDS_SINCE], since)
    goes_on = known[Began.REWOUND_FROM] > offset
    marks[Began.REWOUND_FROM] = np.where(goes_on, known[Began.REWOUND_FROM], UNKNOWN)
    marks[Began.REWOUND_AT] = np.where(goes_on, known[Began.REWOUND_AT], UNKNOWN)
    fresh = np.flatnonzero((status[bad] == Status.REWIND) & ~goes_on)
    if len(fresh):
        _mark_rewinds(marks, some, fresh)
    whole = np.full((len(Began), len(status)), UNKNOWN, np.int64)
    whole[:, bad] = marks
    return Onset(whole)


def _is_same(before: Onset, windows: Windows, status: NDArray[np.uint8], is_bad: Bools) -> bool:
    """The same partitions are bad, at the same offsets, and nothing went back: as mostly."""
    if (status == Status.REWIND).any():
        return False
    offset = np.where(is_bad, windows.newest(Column.OFFSET), UNKNOWN)
    stands = np.array_equal(before.marks[Began.OFFSET], offset)
    return stands and np.array_equal(before.was_bad, is_bad)


def _mark_rewinds(marks: Int64, windows: Windows, rows: Int64) -> None:
    slots = first_rewind(windows.take(rows))
    rows, slots = rows[slots != NO_REWIND], slots[slots != NO_REWIND]
    marks[Began.REWOUND_FROM, rows] = windows.column(Column.OFFSET)[rows, slots - 1]
    marks[Began.REWOUND_AT, rows] = windows.column(Column.COMMITTED_AT)[rows, slots]
