"""Log ends do not go back, though a leader that was deposed and does not know it may say so."""

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
TRUNCATED_AFTER = 30.0  # seconds; brokers know sooner that they lead no more
MADE_ANEW_AFTER = 1.0  # seconds; where no id tells
NEVER = np.inf

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(slots=True)
class _Log:
    """One topic's: its id; by partition the highest end, and since when lower ones are told."""

    id: str
    ends: Int64s
    lower_since: NDArray[np.float64]
    """Monotonic seconds; NEVER while no lower end is told."""

    def resize(self, partitions: int) -> None:
        both = min(partitions, len(self.ends))
        ends, lower_since = self.ends[:both], self.lower_since[:both]
        self.ends = np.full(partitions, UNKNOWN, np.int64)
        self.lower_since = np.full(partitions, NEVER)
        self.ends[:both], self.lower_since[:both] = ends, lower_since


class HighestEnds:
    """The highest end of every partition that was read, also while no group consumes the topic.

    A topic made anew begins anew: its id tells; where brokers have none, a second answer. Of the
    same topic a lower end counts when nothing else is told for 30 s: the log was truncated.
    """

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}

    def lower(self, topic: str, topic_id: str, end: Int64s) -> Bools:
        """Which of these ends are lower than those that were known. `topic_id`: may be empty."""
        log = self._logs.get(topic)
        lower = np.zeros(len(end), np.bool_)
        if log is not None and log.id == topic_id:
            both = min(len(end), len(log.ends))
            lower[:both] = (end[:both] < log.ends[:both]) & (end[:both] != UNKNOWN)
        return lower

    def hold(self, topic: str, topic_id: str, end: Int64s, now: float) -> tuple[Int64s, bool]:
        """The ends to go by, UNKNOWN where `end` is; and whether this is another log than before.

        `now`: monotonic seconds.
        """
        log = self._logs.get(topic)
        if log is None or log.id != topic_id:
            self._logs[topic] = _Log(topic_id, end.copy(), np.full(len(end), NEVER))
            return end, log is not None
        if len(log.ends) != len(end):
            log.resize(len(end))
        lower = self.lower(topic, topic_id, end)
        accepted = self._accepted(log, lower, now)
        known = end != UNKNOWN
        np.copyto(log.ends, end, where=accepted | (known & ~lower))
        held = np.where(known, log.ends, UNKNOWN) if lower.any() else end
        return held, bool(accepted.any())

    def _accepted(self, log: _Log, lower: Bools, now: float) -> Bools:
        """Which of the lower ends are true."""
        if not lower.any():
            log.lower_since.fill(NEVER)
            return lower
        log.lower_since[lower] = np.minimum(log.lower_since[lower], now)
        log.lower_since[~lower] = NEVER
        after = TRUNCATED_AFTER if log.id else MADE_ANEW_AFTER
        accepted: Bools = now - log.lower_since >= after
        log.lower_since[accepted] = NEVER
        return accepted

    def keep_only(self, topics: Container[str]) -> None:
        """Forgets the topics that are not there any more."""
        for topic in [topic for topic in self._logs if topic not in topics]:
            del self._logs[topic]
