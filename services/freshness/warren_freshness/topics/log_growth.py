"""How large one partition's log is and how fast it grows: what size will delete, and when. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

MOST_POINTS = 32
# The rate is that of this time at least: bursts of a moment are no rate.
RATE_MS = 60_000


class _Point(NamedTuple):
    """`appended`: bytes in all up to `at` (Unix ms), from an arbitrary zero on; what came after
    offset `end` was appended later."""

    at: int
    end: int
    appended: int


class LogGrowth:
    """Observations of a log's size, oldest first; of those long ago, fewer and fewer are kept."""

    def __init__(self) -> None:
        self._points: list[_Point] = []
        self._size = 0
        self._start = 0

    def observe(self, at: int, size: int, start: int, end: int) -> None:
        """The log had that size (bytes), and ended there afterwards."""
        last = self._points[-1] if self._points else None
        if last is None or at <= last.at or end < last.end:  # or the topic was made anew
            self._points = [_Point(at, end, 0)]
        else:
            grown = size - self._size
            if start > self._start:
                # What was deleted meanwhile is not known: as many bytes as the records have now.
                grown = max(grown, (end - last.end) * size // max(end - start, 1))
            self._points.append(_Point(at, end, last.appended + max(grown, 0)))
            self._thin_out()
        self._size, self._start = size, start

    @property
    def bytes_per_second(self) -> float | None:
        """The fastest that it has grown lately; None before the second observation."""
        if len(self._points) < 2:
            return None
        *_, second, last = self._points
        begin = min(last.at - RATE_MS, second.at)
        recent = next(point for point in self._points if point.at >= begin)
        since = {self._points[0], recent}
        return max((last.appended - p.appended) * 1000 / (last.at - p.at) for p in since)

    def bytes_after(self, offset: int, largest_batch: int) -> int:
        """At most so many bytes of the log are after an offset. `largest_batch` in bytes."""
        last = self._points[-1]
        least = min(self._size, max(last.end - offset, 0) * largest_batch)
        before = [point for point in self._points if point.end <= offset]
        return min(least, last.appended - before[-1].appended) if before else least

    def time_to_loss(
        self, offset: int, limit: int, largest_batch: int, now: int
    ) -> int | float | None:
        """Milliseconds until as many bytes are after the offset as are kept (`limit`), if the log
        goes on growing like this: before that, no segment with it is deleted. At least 0, infinite
        where it does not grow; None while nobody knows.
        """
        rate = self.bytes_per_second
        if rate is None:
            return None
        if rate == 0:
            return float("inf")
        left = limit - self.bytes_after(offset, largest_batch)
        return max(int(left * 1000 / rate) - (now - self._points[-1].at), 0)

    def _thin_out(self) -> None:
        """Drops the point whose neighbours are closest, in relation to how long ago they are."""
        if len(self._points) <= MOST_POINTS:
            return
        now = self._points[-1].at
        gaps = [
            (after.at - before.at) / (now - before.at + RATE_MS)
            for before, after in pairwise(self._points[:-1])
        ]
        del self._points[gaps.index(min(gaps)) + 1]
