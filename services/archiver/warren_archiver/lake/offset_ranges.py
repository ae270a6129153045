"""Sets of offsets as ranges: a million records of a topic without gaps are one range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class OffsetRanges:
    """Ascending ranges [start, end) that neither touch nor overlap."""

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> OffsetRanges:
        """Joins ranges in any order that may touch or overlap; empty ones vanish."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(pair for pair in ranges if pair[0] < pair[1]):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(joined[-1][1], end))
            else:
                joined.append((start, end))
        return cls(tuple(joined))

    @property
    def end(self) -> int:
        """One past the greatest offset; 0 for none."""
        return self.ranges[-1][1] if self.ranges else 0

    def __len__(self) -> int:
        return sum(end - start for start, end in self.ranges)

    @property
    def gaps(self) -> OffsetRanges:
        """What lies between them."""
        return OffsetRanges(tuple((before[1], after[0]) for before, after in pairwise(self.ranges)))

    def __sub__(self, other: OffsetRanges) -> OffsetRanges:
        return OffsetRanges(tuple(self._without(other)))

    def _without(self, other: OffsetRanges) -> Iterator[tuple[int, int]]:
        holes = iter(other.ranges)
        hole = next(holes, None)
        for start, end in self.ranges:
            position = start
            while hole is not None and hole[0] < end:
                if hole[1] > position:
                    if hole[0] > position:
                        yield position, hole[0]
                    position = hole[1]
                if hole[1] > end:
                    break  # it may reach into the next range
                hole = next(holes, None)
            if position < end:
                yield position, end

    def clip(self, start: int, end: int) -> OffsetRanges:
        """Those in [start, end)."""
        return OffsetRanges.of((max(a, start), min(b, end)) for a, b in self.ranges)

    def __str__(self) -> str:
        """`3, 7-9`, inclusive; the first five."""
        shown = [str(a) if b - a == 1 else f"{a}-{b - 1}" for a, b in self.ranges[:5]]
        return ", ".join([*shown, *(["…"] if len(self.ranges) > 5 else [])])
