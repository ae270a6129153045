"""The positions' columns: NumPy arrays that grow, with rows that are used again."""

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
NO_OFFSET = -1
# The row of a partition without a commit.
NEVER_COMMITTED = 0


class FreeRows:
    """Row numbers, the smallest unused first; `capacity` doubles as needed."""

    __slots__ = ("_first", "_free", "_next", "capacity")

    def __init__(self, first: int, capacity: int = 1024) -> None:
        self.capacity = capacity
        self._first = self._next = first
        self._free: list[int] = []

    def take(self) -> int:
        """A row that nobody has; the columns must then be at least `capacity` long."""
        if self._free:
            return self._free.pop()
        row = self._next
        self._next += 1
        if row >= self.capacity:
            self.capacity *= 2
        return row

    def give_back(self, row: int) -> None:
        self._free.append(row)

    @property
    def used(self) -> int:
        """Rows taken and not given back."""
        return self._next - self._first - len(self._free)


class PositionColumns:
    """One row per committed position; row NEVER_COMMITTED stands for all that have none.

    `commits` counts what was folded in since the row was last published; `group` is a group slot;
    `told`: the row was published, if only once; `told_offset`: what was told last, NO_OFFSET until
    then.
    """

    def __init__(self) -> None:
        self._free = FreeRows(first=NEVER_COMMITTED + 1)
        self.offset = np.full(self._free.capacity, NO_OFFSET, np.int64)
        self.committed_at = np.full(self._free.capacity, NO_OFFSET, np.int64)
        self.commits = np.zeros(self._free.capacity, np.int64)
        self.group = np.zeros(self._free.capacity, np.int32)
        self.published = np.zeros(self._free.capacity, np.bool_)
        self.published[NEVER_COMMITTED] = True
        self.published_offset = np.full(self._free.capacity, NO_OFFSET, np.int64)
        self.key: list[bytes] = [b""]

    @property
    def used(self) -> int:
        """Positions that there are."""
        return self._free.used

    def take(self, key: bytes, group: int) -> int:
        """A new row, without a commit yet."""
        row = self._free.take()
        if row == len(self.key):
            self.key.append(key)
        else:
            self.key[row] = key
        if row >= len(self.offset):
            more = self._free.capacity - len(self.offset)
            unused = np.full(more, NO_OFFSET, np.int64)
            self.offset = np.concatenate([self.offset, unused])
            self.committed_at = np.concatenate([self.committed_at, unused])
            self.commits = np.concatenate([self.commits, np.zeros(more, np.int64)])
            self.group = np.concatenate([self.group, np.zeros(more, np.int32)])
            self.published_offset = np.concatenate([self.published_offset, unused])
            self.published = np.concatenate([self.published, np.zeros(more, np.bool_)])
        self.group[row] = group
        self.published[row] = False
        self.published_offset[row] = NO_OFFSET
        return row

    def give_back(self, row: int) -> None:
        self.key[row] = b""
        self.offset[row] = NO_OFFSET
        self.committed_at[row] = NO_OFFSET
        self.commits[row] = 0
        self._free.give_back(row)

    def fold(self, rows: Int64s, offset: Int64s, committed_at: Int64s) -> None:
        """The newest wins: where a row occurs twice, its last entry does."""
        self.offset[rows] = offset
        self.committed_at[rows] = committed_at

    def count(self, rows: Int64s) -> None:
        np.add.at(self.commits, rows, 1)
