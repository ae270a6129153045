"""Commits before the newest, as far as the offsets topic still has them: for the very first start.

Compaction leaves the newest record of each position, but has not been everywhere yet. While a
collector rebuilds what no collector has ever published, ten commits of each position are kept, so
that nobody is judged by a lone one.
"""

import numpy as np

from warren_collector.positions.columns import NO_OFFSET, Int64s

KEPT = 10  # commits before the newest, of each position
APART_MS = 1_000
SLACK = 100_000  # commits that wait until they are looked through, at least
_NONE = np.zeros((3, 0), np.int64)
_ROW, _OFFSET, _AT = range(3)


class EarlierCommits:
    """By row; in memory until they are published. A few times ten commits of each position."""

    def __init__(self) -> None:
        self._kept = _NONE  # [row, offset, committed at][commit], by row, oldest first
        self._waiting: list[Int64s] = []
        self._waits = 0

    def __len__(self) -> int:
        return self._kept.shape[1] + self._waits

    def take(self, rows: Int64s, offset: Int64s, committed_at: Int64s) -> None:
        """In the order of the log."""
        if not len(rows):
            return
        self._waiting.append(np.stack([rows, offset, committed_at]))
        self._waits += len(rows)
        if self._waits > max(SLACK, self._kept.shape[1]):
            self._look_through()

    def forget(self, row: int) -> None:
        """Nothing is committed under this row any more."""
        if len(self):
            self.take(*(np.array([value], np.int64) for value in (row, NO_OFFSET, NO_OFFSET)))

    def drop(self, are_published: np.typing.NDArray[np.bool_]) -> None:
        """Lets go of what is published. `are_published`: by row."""
        if len(self):
            self._look_through()
            self._kept = self._kept[:, ~are_published[self._kept[_ROW]]]

    def of(self, rows: Int64s, newest: Int64s) -> tuple[list[list[int]], list[list[int]]]:
        """Offsets and times of each row's commits, oldest first, but for the last one if it has the
        offset of the row's `newest`.
        """
        self._look_through()
        if not len(self):
            empty: list[list[int]] = [[] for _ in rows]
            return empty, empty
        of_row = self._kept[_ROW]
        starts, ends = np.searchsorted(of_row, rows), np.searchsorted(of_row, rows, "right")
        offset, committed_at = self._kept[_OFFSET], self._kept[_AT]
        has = ends > starts
        ends = ends - (has & (offset[np.maximum(ends - 1, 0)] == newest))
        spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        return (
            [offset[start:end].tolist() for start, end in spans],
            [committed_at[start:end].tolist() for start, end in spans],
        )

    def _look_through(self) -> None:
        """Keeps the last commit of each second, and of those the last ones."""
        if not self._waiting:
            return
        commits = np.concatenate([self._kept, *self._waiting], axis=1)
        self._waiting.clear()
        self._waits = 0
        commits = commits[:, np.argsort(commits[_ROW], kind="stable")]
        # Those that a deletion, or a negative offset, of the same row follows, and these.
        ends = np.append(np.cumsum((commits[_OFFSET] < 0)[::-1])[::-1], 0)
        behind_row = ends[np.searchsorted(commits[_ROW], commits[_ROW], "right")]
        ended: np.typing.NDArray[np.bool_] = ends[:-1] > behind_row
        commits = commits[:, ~ended]
        if not commits.shape[1]:
            self._kept = commits
            return
        second = commits[_AT] // APART_MS
        is_last = np.ones(len(second), np.bool_)
        same_row = commits[_ROW, 1:] == commits[_ROW, :-1]
        is_last[:-1] = ~same_row | (second[1:] != second[:-1])
        commits = commits[:, is_last]
        row_ends = np.searchsorted(commits[_ROW], commits[_ROW], "right")
        self._kept = commits[:, row_ends - np.arange(len(row_ends)) <= KEPT + 1]
