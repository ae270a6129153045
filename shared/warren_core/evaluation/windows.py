"""Windows: the last commits of every partition of a group, in columns.

A window holds at most `intervals` commits, oldest first and right-aligned, so that the newest is
always in the last slot and empty slots are at the start. Commits are ordered by their `order` (the
record's offset in `__consumer_offsets`), not by their time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNKNOWN = -1
# Two times within +-MAX_TIME differ by less than 2^63, so that no difference of them wraps around.
MAX_TIME = 2**62 - 1
# By default. Of log ends, the newest in each stretch of this length is remembered: ten of them are
# 100 s, as Burrow's ten refreshes are.
LOG_ENDS_APART_MS = 11_000


class Column(IntEnum):
    """What a window remembers of each commit. Times are Unix milliseconds."""

    OFFSET = 0
    COMMITTED_AT = 1
    OBSERVED_AT = 2
    LAG = 3  # when it was observed; UNKNOWN when the log end was not known, and in empty slots
    ORDER = 4


@dataclass(slots=True)
class Windows:
    """The windows of P partitions, W slots each. `insert`, `fill` and those about log ends change
    them.
    """

    columns: Int64  # [column, partition, slot]
    filled: Int64  # [partition] occupied slots
    log_ends: Int64  # [partition, slot] log ends seen lately, newest last, UNKNOWN where none
    log_ends_at: Int64  # [partition] when the newest of them was seen, or first asked for in vain

    @classmethod
    def empty(cls, partitions: int, intervals: int) -> Windows:
        columns = np.zeros((len(Column), partitions, intervals), np.int64)
        columns[Column.LAG] = UNKNOWN
        log_ends = np.full((partitions, intervals), UNKNOWN, np.int64)
        at = np.full(partitions, UNKNOWN, np.int64)
        return cls(columns, np.zeros(partitions, np.int64), log_ends, at)

    @classmethod
    def joined(cls, all_: Sequence[Windows]) -> Windows:
        """One after the other; all have the same number of slots."""
        return cls(
            np.concatenate([windows.columns for windows in all_], axis=1),
            np.concatenate([windows.filled for windows in all_]),
            np.concatenate([windows.log_ends for windows in all_]),
            np.concatenate([windows.log_ends_at for windows in all_]),
        )

    def copied(self) -> Windows:
        copies = (self.columns.copy(), self.filled.copy(), self.log_ends.copy())
        return Windows(*copies, self.log_ends_at.copy())

    def part(self, rows: slice) -> Windows:
        """These partitions; not a copy."""
        columns, filled = self.columns[:, rows], self.filled[rows]
        return Windows(columns, filled, self.log_ends[rows], self.log_ends_at[rows])

    @property
    def intervals(self) -> int:
        return int(self.columns.shape[2])

    @property
    def occupied(self) -> Bools:
        """[partition, slot]"""
        occupied: Bools = np.arange(self.intervals) >= (self.intervals - self.filled)[:, None]
        return occupied

    def column(self, column: Column) -> Int64:
        """[partition, slot]"""
        values: Int64 = self.columns[column]
        return values

    def newest(self, column: Column | slice = slice(None)) -> Int64:
        """[partition], or [column, partition] for all; meaningless where `filled` is 0."""
        newest: Int64 = self.columns[column, :, -1]
        return newest

    def oldest(self, column: Column | slice = slice(None)) -> Int64:
        """[partition], or [column, partition] for all; meaningless where `filled` is 0."""
        first = np.minimum(self.intervals - self.filled, self.intervals - 1)
        oldest: Int64 = self.columns[column, np.arange(len(first)), first]
        return oldest

    def take(self, rows: Int64) -> Windows:
        """A copy with these partitions; a negative row gives an empty window."""
        if np.array_equal(rows, np.arange(len(self.filled))):  # as nearly always
            return self.copied()
        missing = rows < 0
        if len(self.filled) == 0:
            return Windows.empty(len(rows), self.intervals)
        taken = Windows(
            self.columns[:, rows], self.filled[rows], self.log_ends[rows], self.log_ends_at[rows]
        )
        taken.clear(missing)
        return taken

    def clear_commits(self, rows: Int64 | Bools) -> None:
        """Forgets what was committed. Where the log ended is not the group's."""
        self.columns[:, rows] = 0
        self.columns[Column.LAG, rows] = UNKNOWN
        self.filled[rows] = 0

    def clear(self, rows: Int64 | Bools) -> None:
        """Forgets everything about these partitions."""
        self.clear_commits(rows)
        self.forget_log_ends(rows)

    def forget_log_ends(self, rows: Int64 | Bools) -> None:
        """Not what was committed."""
        self.log_ends[rows] = UNKNOWN
        self.log_ends_at[rows] = UNKNOWN

    def resized(self, intervals: int) -> Windows:
        """The same windows with another number of slots; the oldest commits go first."""
        if intervals == self.intervals:
            return self
        resized = Windows.empty(len(self.filled), intervals)
        kept = min(intervals, self.intervals)
        resized.columns[:, :, -kept:] = self.columns[:, :, -kept:]
        resized.filled[:] = np.minimum(self.filled, intervals)
        resized.log_ends[:, -kept:] = self.log_ends[:, -kept:]
        resized.log_ends_at[:] = self.log_ends_at
        return resized

    def remember_log_ends(
        self, rows: Int64, log_ends: Int64, at: int | Int64, apart_ms: int = LOG_ENDS_APART_MS
    ) -> None:
        """Adds one observation for each of these (distinct) partitions; UNKNOWN ones are not. `at`
        is for all, or one for each.

        It replaces the newest where that is of the same stretch of time: how long ends are
        remembered does not depend on how often a group is looked at. Of one that nobody has told
        yet, it is remembered since when it was asked for.
        """
        known = log_ends >= 0
        if not known.all():
            first = ~known & (self.log_ends_at[rows] == UNKNOWN)
            self.log_ends_at[rows[first]] = at if isinstance(at, int) else at[first]
            rows, log_ends = rows[known], log_ends[known]
            at = at if isinstance(at, int) else at[known]
        later = rows[self.log_ends_at[rows] // apart_ms != at // apart_ms]
        if len(later):
            self.log_ends[later, :-1] = self.log_ends[later, 1:]
        self.log_ends[rows, -1] = log_ends
        self.log_ends_at[rows] = at

    def recall_log_ends(self, row: int, log_ends: Int64) -> None:
        """Ends that were seen before any that is known here, oldest first."""
        kept = log_ends[-self.log_ends.shape[1] :]
        self.log_ends[row, self.log_ends.shape[1] - len(kept) :] = kept

    def fill(self, row: int, commits: Int64) -> None:
        """An empty window gets commits, [column, N], oldest first; it takes what it can hold."""
        kept = commits[:, -self.intervals :]
        self.columns[:, row, self.intervals - kept.shape[1] :] = kept
        self.filled[row] = kept.shape[1]

    def limit(self, intervals: Int64) -> None:
        """Keeps only the newest `intervals`, [partition], commits and log ends of each window."""
        if (intervals >= self.intervals).all():
            return
        beyond = np.arange(self.intervals) < (self.intervals - intervals)[:, None]
        self.columns[:, beyond] = 0
        self.columns[Column.LAG, beyond] = UNKNOWN
        self.log_ends[beyond] = UNKNOWN
        np.minimum(self.filled, intervals, out=self.filled)

    def insert(
        self,
        rows: Int64,
        commits: Int64,
        min_distance_ms: int | Int64,
        capacity: Int64 | None = None,
    ) -> None:
        """Inserts one commit, [column, N], for each of these N (distinct) partitions.

        `min_distance_ms` is for all, or [N]; `capacity` [N] where windows are not all as long as
        there are slots (the caller limits them afterwards).

        A commit less than `min_distance_ms` after its predecessor replaces it but keeps its time;
        otherwise a group that commits faster than that would never get a second slot. One that
        is not newer than the newest goes where its order says (see `_placed`).
        """
        newest = self.columns[:, rows, -1]
        known = self.filled[rows] > 0
        late = known & (newest[Column.ORDER] >= commits[Column.ORDER])
        distance = commits[Column.COMMITTED_AT] - newest[Column.COMMITTED_AT]
        merged = known & ~late & (distance < min_distance_ms)
        if merged.any():
            kept = newest[Column.COMMITTED_AT, merged]
            self.columns[:, rows[merged], -1] = commits[:, merged]
            self.columns[Column.COMMITTED_AT, rows[merged], -1] = kept
        appended = ~late & ~merged
        if appended.all():
            self._append(rows, commits)
        else:
            self._append(rows[appended], commits[:, appended])
        distances = np.broadcast_to(min_distance_ms, rows.shape)
        for index in np.flatnonzero(late):
            slots = self.intervals if capacity is None else int(capacity[index])
            self._insert_late(int(rows[index]), commits[:, index], int(distances[index]), slots)

    def _append(self, rows: Int64, commits: Int64) -> None:
        if len(rows) == len(self.filled):  # as nearly always: in place
            self.columns[:, :, :-1] = self.columns[:, :, 1:]
        else:
            self.columns[:, rows, :-1] = self.columns[:, rows, 1:]
        self.columns[:, rows, -1] = commits
        self.filled[rows] = np.minimum(self.filled[rows] + 1, self.intervals)

    def _insert_late(self, row: int, commit: Int64, min_distance_ms: int, capacity: int) -> None:
        window = self.columns[:, row, self.intervals - int(self.filled[row]) :]
        late = commit.copy()
        late[Column.LAG] = UNKNOWN  # the log end of that time was not seen
        placed = _placed(window, late, capacity, min_distance_ms)
        self.filled[row] = placed.shape[1]
        self.columns[:, row, self.intervals - placed.shape[1] :] = placed


def _placed(window: Int64, commit: Int64, capacity: int, min_distance_ms: int) -> Int64:
    """The window, [column, slot], oldest first, with the commit, [column], where it belongs.

    The cases are those of Burrow's ring
    (linkedin/Burrow 1.9.5, core/internal/storage/inmemory.go): it drops a commit that it has, or
    that is older than a full window; one that becomes the oldest is never merged.
    """
    filled = window.shape[1]
    full = filled == capacity
    place = int(np.searchsorted(window[Column.ORDER], commit[Column.ORDER]))
    if place < filled and window[Column.ORDER, place] == commit[Column.ORDER]:
        return window
    if place == 0:
        return window if full else np.insert(window, 0, commit, axis=1)
    becomes_oldest = full and place == 1
    previous = place - 1
    if (
        not becomes_oldest
        and commit[Column.COMMITTED_AT] - window[Column.COMMITTED_AT, previous] < min_distance_ms
    ):
        merged = window.copy()
        merged[:, previous] = commit
        merged[Column.COMMITTED_AT, previous] = window[Column.COMMITTED_AT, previous]
        return merged
    widened = np.insert(window, place, commit, axis=1)
    return widened[:, 1:] if full else widened
