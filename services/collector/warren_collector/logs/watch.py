"""Watching of all topics' logs: where each ended is known before anybody commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from warren.clock import Clock
from warren.errors import AuthenticationFailed, ClusterUnreachable

from warren_collector.logs.ends import LogEnds
from warren_collector.logs.highest import Int64s
from warren_collector.logs.history import APART_MS, KEPT, LogHistory

EVERY = APART_MS / 1000


class Reader(Protocol):
    """LogEndsReader, or what a test has in its place."""

    def read_all(self, accepts: Callable[[str], bool]) -> LogEnds: ...

    def read_past(
        self, accepts: Callable[[str], bool], times: Sequence[int]
    ) -> list[dict[str, Int64s]]: ...


class LogWatch:
    """Reads the ends of all watched topics every 10 s; at first those of the 100 s before, too."""

    def __init__(self, reader: Reader, accepts: Callable[[str], bool], clock: Clock) -> None:
        """`accepts` says whether a topic is watched."""
        self.history = LogHistory()
        self._reader = reader
        self._accepts = accepts
        self._clock = clock
        self._looked_at = -EVERY
        self._knows_past = False
        self.problem: ClusterUnreachable | AuthenticationFailed | None = None
        """Why they could not be read the last time."""

    def look(self) -> LogEnds | None:
        """What was read, if it was time to. What cannot be read is left until the next time."""
        now = self._clock.monotonic()
        if now - self._looked_at < EVERY:
            return None
        self._looked_at = now
        try:
            ends = self._reader.read_all(self._accepts)
            if not self._knows_past:
                self._recall()
                self._knows_past = True
        except (ClusterUnreachable, AuthenticationFailed) as error:
            self.problem = error
            return None
        self.problem = None
        self.history.add(ends, self._clock.now_ms())
        return ends

    def _recall(self) -> None:
        """By the records' timestamps, which is as good as those are."""
        now = self._clock.now_ms()
        times = [now - age * APART_MS for age in range(KEPT - 1, 0, -1)]
        for time, ends in zip(times, self._reader.read_past(self._accepts, times), strict=True):
            for topic, end in ends.items():
                self.history.add_topic(topic, end, time)
