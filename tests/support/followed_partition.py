"""A partition that is observed every 5 seconds, and what policy `progress` says of it."""

from __future__ import annotations

import pickle

import numpy as np
from warren.contracts.status import Status
from warren_core.evaluation import LONGEST_MS, UNKNOWN, Presence, Sighting, Track, see
from warren_core.evaluation.progress import RULES, judge

START = 1_795_244_400_000
TICK = 5
ALL = 2**62
FOUND = 55  # seconds until a silence is found where nothing takes long: 45, seen at a tick
_GONE_THROUGH: dict[bytes, bytes] = {}  # what healthy times lead to, by where they began


class Followed:
    """One partition: what is written to its log, and what its consumer commits."""

    def __init__(self, *, behind: int = 0) -> None:
        self.track = Track.empty(1)
        self.now = START
        self.end = 1_000_000
        self.committed = self.end - behind
        self.committed_at = self.now
        self.presence = Presence.UNKNOWN
        self.last_stable = self.log_start = UNKNOWN
        self.pace_ms = LONGEST_MS
        self.seen: list[str] = []

    def tick(
        self, written: int = 0, *, read: int | None = None, leaving: int = 0, seconds: int = TICK
    ) -> str:
        """After `seconds` more: `read` records committed (None: no commit), all but `leaving`."""
        self.now += seconds * 1000
        self.end += written
        if read is not None:
            self.committed = min(self.committed + read, self.end - leaving)
            self.committed_at = self.now
        return self.observe(int(read is not None))

    def observe(self, commits: int, log_end: int | None = None) -> str:
        sighting = Sighting(
            at=self.now,
            committed=np.array([self.committed]),
            committed_at=np.array([self.committed_at]),
            commits=np.array([commits]),
            log_end=np.array([self.end if log_end is None else log_end]),
            presence=int(self.presence),
            last_stable=np.array([self.last_stable]),
            log_start=np.array([self.log_start]),
            pace_ms=self.pace_ms,
        )
        see(self.track, np.array([0]), sighting)
        status = Status(int(judge(self.track, self.now)[0])).name
        self.seen.append(status)
        return status

    def healthy(self, minutes: float, *, every: int = TICK, rate: int = 10) -> Followed:
        """Commits everything each `every` seconds; what was so once is remembered."""
        begun = pickle.dumps((vars(self), minutes, every, rate, [rule.on for rule in RULES]))
        if begun not in _GONE_THROUGH:
            for second in range(TICK, round(minutes * 60) + 1, TICK):
                self.tick(rate * TICK, read=ALL if second % every == 0 else None)
            _GONE_THROUGH[begun] = pickle.dumps(vars(self))
        vars(self).update(pickle.loads(_GONE_THROUGH[begun]))
        return self

    def silent_for(self, minutes: float, *, rate: int = 10) -> None:
        """No commit, whatever is said of it."""
        for _ in range(round(minutes * 60 / TICK)):
            self.tick(rate * TICK)

    def pause(self, minutes: float) -> bool:
        """No commit, then one of everything; whether it was a STOP."""
        began = len(self.seen)
        self.silent_for(minutes)
        told = "STOP" in self.seen[began:]
        self.tick(read=ALL)
        return told

    def silent(self, minutes: float, *, rate: int = 10) -> int | None:
        """No commit; the seconds until it is not OK, None if it stays OK."""
        for second in range(TICK, round(minutes * 60) + 1, TICK):
            if self.tick(rate * TICK) != "OK":
                return second
        return None


def always_ok(partition: Followed) -> bool:
    return set(partition.seen) == {"OK"}
