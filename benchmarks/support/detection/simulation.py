"""Simulation: partitions played second by second, seen as a collector sees them.

The truth is what an operator who sees everything would say: a partition is in trouble while a fault
keeps it from reading what is there to be read, from when its next commit was due, or from when the
client that crashed is no member any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.detection.partitions import DAY, FAULTS, SILENT, Partition

SESSION_TIMEOUT = 45  # seconds until a client that stands still is no member any more
LOOP = 40, 60  # of so many seconds a group in a loop rebalances so many
OPEN = ("transaction", "open")  # nobody may read beyond the first record of one
SCALES_AT, SCALES_AFTER = 30, 120  # seconds behind, and for so long: more members come
NARROWED = ("slow", "brown_out", "backlog", *OPEN)  # it reads, but not all
LOOKED_AT = 30  # seconds between looks at the members
LEAD = 10_800  # seconds that everything has been at work when it is first seen
EARLIER = 10  # commits of before, a second apart at least, that are known then
BATCH_COMMIT = 2  # seconds between commits while a batch runs
UNKNOWN = -1
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Recording:
    """[tick, partition] each; seconds since the start."""

    earlier: list[list[tuple[int, int]]]
    """[partition] Offset and time of its last commits before."""
    second: Ints  # [tick]
    committed: Ints
    committed_at: Ints
    commits: Ints  # since the tick before
    presence: Ints  # of members, as it was seen last
    log_end: Ints  # as it is seen: UNKNOWN, or too little, where the scenario says so
    true_end: Ints
    fault: Ints  # number of the fault that keeps it from reading, UNKNOWN: none
    last_stable: Ints  # nobody may read further who reads what was committed
    excused: Bools  # a fault is over, its backlog is not

    @classmethod
    def joined(cls, all_: Sequence[Recording]) -> Recording:
        """One beside the other; all of the same time."""
        apart = [name for name in cls.__dataclass_fields__ if name not in ("earlier", "second")]
        columns = {
            name: np.concatenate([getattr(each, name) for each in all_], axis=1) for name in apart
        }
        earlier = [commits for each in all_ for commits in each.earlier]
        return cls(earlier=earlier, second=all_[0].second, **columns)


def play(partitions: list[Partition], seconds: int, seed: int, interval: int) -> Recording:
    """What is seen every `interval` seconds."""
    return _Play(partitions, seed).recording(seconds, interval)


class _Play:
    def __init__(self, partitions: list[Partition], seed: int) -> None:
        self._partitions = partitions
        self._rng = np.random.default_rng([seed, 1_000_000])
        n = len(partitions)
        self._rate = self._of("rate")
        self._pause = self._of("pause")
        self._phase = self._of("phase")
        self._factor = self._of("burst_factor")
        self._quiet = self._of("quiet")
        self._every, self._for = self._of("burst_every"), self._of("burst_for")
        self._clock = self._of("clock").astype(np.int64)
        self._always, self._last = self._of("commits_always") > 0, self._of("commits_last") > 0
        work = self._of("work_first")
        usual = np.maximum(self._rate * self._of("capacity"), 2.0)
        self._capacity = np.where(work > 0, 1 / np.maximum(work, 1), usual)
        self._by_count = self._of("by_count").astype(np.int64)
        self._batch = self._is("committer", "batch")
        self._irregular = self._is("committer", "irregular")
        self._daily, self._bursty = self._is("producer", "daily"), self._is("producer", "bursty")
        self._end = np.full(n, 10_000_000, np.int64)
        self._done = self._end.copy()
        self._committed = self._end - self._last
        self._committed_at = np.full(n, -LEAD, np.int64)
        self._next_commit = self._rng.uniform(0, self._pause) - LEAD
        self._running = np.ones(n, np.bool_)  # a batch that is under way
        self._credit = np.zeros(n)
        self._active: list[int] = [UNKNOWN] * n  # number of its span, from all partitions' spans
        self._waiting = [0] * n  # its next span
        self._kind = np.full(n, "", "<U16")
        self._back_to = np.zeros(n, np.int64)
        self._due_at = np.zeros(n)  # the commit that does not come once a span has begun
        self._stable = np.zeros(n, np.int64)  # nobody may read further
        self._excused = np.zeros(n, np.bool_)
        self._unsettled = np.array([p.unsettled for p in partitions]).T
        self._job, self._alone = self._is("membership", "job"), self._is("membership", "alone")
        self._looked_at = np.random.default_rng([seed, 2_000_000]).integers(0, LOOKED_AT, n)
        self._presence = np.full(n, UNKNOWN, np.int64)
        self._delay, self._wander = self._of("delay"), self._of("wander")
        self._window = np.maximum(self._of("window"), 1)
        self._scales, self._behind_for = self._of("scales"), np.zeros(n, np.int64)
        self._scaled = np.zeros(n, np.bool_)
        self._leaves_out = self._of("leaves_out")
        self._varies = np.random.default_rng([seed, 3_000_000])
        self._more = np.zeros(n)  # of the wander, -1 to 1
        reaches = self._delay + self._wander + self._window
        self._ends = np.tile(self._end, (int(reaches.max()) + 2, 1))  # of late, a ring
        self._limit = self._end  # nothing beyond is read yet
        self._firsts = np.cumsum([0, *(len(p.spans) for p in partitions)]).tolist()

    def _of(self, name: str) -> Floats:
        return np.array([float(getattr(p, name)) for p in self._partitions])

    def _is(self, name: str, value: str) -> Bools:
        return np.array([getattr(p, name) == value for p in self._partitions])

    def recording(self, seconds: int, interval: int) -> Recording:
        rows: dict[str, list[Any]] = defaultdict(list)
        commits = np.zeros(len(self._partitions), np.int64)
        unwell = np.array([p.unwell for p in self._partitions]).T
        earlier: list[list[tuple[int, int]]] = [[] for _ in self._partitions]
        for second in range(-LEAD, seconds):
            self._events(second)
            kind = self._kind
            rate = self._rates(second) * (kind != "producer_stop")
            self._end += self._rng.poisson(rate)
            self._limit = self._old_enough(second)
            self._process(second, rate)
            made = self._commit(second)
            commits += made
            usual = self._rate * self._pause * 1.5 + 3 + self._by_count
            self._look(second)
            self._excused &= self._limit - self._committed > usual
            if second < 0:
                for p in np.flatnonzero(made).tolist():
                    earlier[p] = [*earlier[p][1 - EARLIER :], (int(self._committed[p]), second)]
                commits[:] = 0
            elif second % interval == interval - 1:
                seen = {
                    "second": second,
                    "committed": self._committed,
                    "committed_at": self._committed_at + self._clock,
                    "commits": commits,
                    "presence": self._presence,
                    "log_end": self._seen_ends(),
                    "true_end": self._end,
                    "fault": self._faults(second),
                    "last_stable": np.where(
                        np.isin(self._kind, OPEN), self._stable, self._seen_ends()
                    ),
                    "excused": self._excused | (unwell[0] <= second) & (second < unwell[1]),
                }
                for name, value in seen.items():
                    rows[name].append(np.array(value))
                commits[:] = 0
        columns = {name: np.array(values) for name, values in rows.items()}
        for p, commits_before in enumerate(earlier):
            earlier[p] = [(offset, at + int(self._clock[p])) for offset, at in commits_before]
        return Recording(earlier=earlier, **columns)

    def _rebalances(self, second: int) -> Bools:
        """Where a group is never settled, or is in a loop of rebalances."""
        took, every = self._unsettled
        loops = (self._kind == "loop") & (second % LOOP[1] < LOOP[0])
        rebalances: Bools = loops | (second % every < took)
        return rebalances

    def _look(self, second: int) -> None:
        """At the members of some."""
        rebalances = (self._kind == "rebalance") | self._rebalances(second)
        there = np.where(rebalances, 1, 2)
        there = np.where(self._job & ~self._running | self._is_out(second), 0, there)
        looked_at = (second + self._looked_at) % LOOKED_AT == 0
        seen = np.where(self._alone, UNKNOWN, there)
        self._presence = np.where(looked_at, seen, self._presence)

    def _is_out(self, second: int) -> Bools:
        """Its client has left, or stood still, or is dead, for longer than the session timeout."""
        out: Bools = self._kind == "deploy"
        for p in np.flatnonzero(np.isin(self._kind, ("crash", "pause", "backlog"))).tolist():
            span = self._partitions[p].spans[self._active[p]]
            is_back = span.kind == "backlog" and second >= span.start + span.strength
            out[p] = second >= span.start + SESSION_TIMEOUT and not is_back
        return out

    def _seen_ends(self) -> Ints:
        falls = np.where(self._kind == "end_falls", self._committed - 5, self._end)
        ends: Ints = np.where(self._kind == "unknown_end", UNKNOWN, falls)
        return ends

    def _old_enough(self, second: int) -> Ints:
        """Where the log ended before the delay of each."""
        self._ends[second % len(self._ends)] = self._end
        self._more += self._varies.normal(0, 0.1, len(self._more)) - self._more / 60
        self._more = np.clip(self._more, -1, 1)
        at = second - self._delay - self._wander * self._more
        at = np.where(self._window > 1, at // self._window * self._window, at)
        slot = np.minimum(at, second).astype(np.int64) % len(self._ends)
        found: Ints = self._ends[slot, np.arange(len(slot))]
        return found

    def _rates(self, second: int) -> Floats:
        day = 1 + 0.8 * np.sin(2 * np.pi * (second / DAY + self._phase))
        moment = (second + self._phase * 900) % self._every
        burst = np.where(moment < self._for, self._factor, self._quiet)
        rates: Floats = self._rate * np.where(self._daily, day, np.where(self._bursty, burst, 1.0))
        for p in np.flatnonzero(self._kind == "surge").tolist():
            rates[p] *= self._partitions[p].spans[self._active[p]].strength
        return rates

    def _events(self, second: int) -> None:
        for p, partition in enumerate(self._partitions):
            if self._active[p] >= 0:
                self._end_span(p, second)
            if self._waiting[p] < len(partition.spans):
                span = partition.spans[self._waiting[p]]
                if second >= span.start:
                    if self._active[p] < 0 and second < span.end:
                        self._begin_span(p, second)
                    self._waiting[p] += 1

    def _begin_span(self, p: int, second: int) -> None:
        partition, index = self._partitions[p], self._waiting[p]
        span = partition.spans[index]
        self._active[p], self._kind[p] = index, span.kind
        self._stable[p] = self._end[p]
        self._back_to[p] = self._committed[p]
        waits = span.kind not in ("slow", "brown_out", "rewind", "surge")
        self._due_at[p] = self._next_commit[p] if waits else second
        if span.kind in ("rewind", "zombie"):
            back = span.strength * partition.rate
            self._committed[p] = max(self._committed[p] - max(int(back), 3), 0)
            self._committed_at[p] = second
            if span.kind == "rewind":
                self._done[p] = self._committed[p]
        if span.kind == "skip":
            self._done[p] = self._end[p]

    def _end_span(self, p: int, second: int) -> None:
        span = self._partitions[p].spans[self._active[p]]
        is_over = second >= span.end
        if span.kind == "rewind":
            is_over = bool(self._committed[p] >= self._back_to[p])
        if not is_over:
            return
        self._active[p], self._kind[p] = UNKNOWN, ""
        # Whatever the reason: what has come meanwhile is still to be read.
        self._excused[p] = span.kind in FAULTS or self._excused[p]
        # What was not committed is read again.
        if span.kind in ("crash", "loop", "rebalance", "pause", "retry"):
            self._done[p] = self._committed[p] + int(self._last[p])

    def _process(self, second: int, rate: Floats) -> None:
        stands = np.isin(self._kind, tuple(SILENT | {"poison"})) | self._rebalances(second)
        late = (self._limit - self._done > SCALES_AT * self._rate) & (self._scales > 1)
        behind_for = self._behind_for + np.where(late, 1, -1)
        self._behind_for = np.clip(behind_for, 0, 2 * SCALES_AFTER)
        self._scaled = self._behind_for >= np.where(self._scaled, 1, SCALES_AFTER)
        speed = self._capacity * np.where(self._scaled, self._scales, 1.0)
        limit = self._limit
        for p in np.flatnonzero(np.isin(self._kind, NARROWED)).tolist():
            span = self._partitions[p].spans[self._active[p]]
            if span.kind in ("slow", "brown_out"):  # of what comes in, at any time of the day
                took, every = self._partitions[p].unsettled
                speed[p] = span.strength * rate[p] * every / (every - took)
            elif span.kind == "backlog":
                stands[p] = second < span.start + span.strength
                speed[p] = self._rate[p]
            else:
                limit = np.where(np.arange(len(limit)) == p, np.minimum(self._stable, limit), limit)
        works = ~stands & self._running
        self._credit = np.where(works, np.minimum(self._credit + speed, speed + 1), 0)
        taken = np.maximum(np.minimum(limit - self._done, self._credit.astype(np.int64)), 0) * works
        self._done += taken
        self._credit -= taken
        self._credit *= self._done < limit  # an idle consumer saves no strength
        finished = self._batch & works & (self._done >= limit)
        self._running &= ~finished
        self._next_commit[finished] = -LEAD

    def _commit(self, second: int) -> Ints:
        kind = self._kind
        alive = ~np.isin(kind, tuple(SILENT)) & ~self._rebalances(second)
        for p in np.flatnonzero(kind == "backlog").tolist():
            span = self._partitions[p].spans[self._active[p]]
            alive[p] = second >= span.start + span.strength
        due = alive & (second >= self._next_commit)
        self._running |= due & self._batch & ~self._running & (self._next_commit > -LEAD)
        offset = self._done - self._last
        # What is left of a count stays until more come.
        count = np.maximum(self._by_count, 1)
        batches = np.where(self._by_count > 0, (offset - self._committed) // count, 1)
        offset = np.where(self._by_count > 0, self._committed + batches * count, offset)
        makes = due & ((offset > self._committed) | self._always | (kind == "poison"))
        makes &= (offset >= self._committed) | (kind == "poison")
        makes &= self._varies.random(len(makes)) >= self._leaves_out
        self._committed = np.where(makes, np.maximum(offset, self._committed), self._committed)
        self._committed_at[makes] = second
        n = len(self._pause)
        pause = self._pause * self._rng.uniform(0.9, 1.1, n)
        drawn = np.minimum(self._rng.exponential(1, n), 5) * self._pause
        pause = np.where(self._irregular, np.maximum(drawn, 1), pause)
        pause = np.where(self._batch & self._running, BATCH_COMMIT, pause)
        self._next_commit = np.where(due, second + pause, self._next_commit)
        made: Ints = np.where(makes, np.maximum(batches, 1), 0)
        return made

    def _faults(self, second: int) -> Ints:
        """A fault hurts while there is something to read, from when a commit was due."""
        behind = self._limit - self._committed > self._last
        # Who is there, and has less left than it commits at once, has nothing to do.
        behind &= (self._limit - self._committed >= self._by_count) | self._is_out(second)
        gone = (self._kind == "crash") & ~self._job & self._is_out(second)
        due = (second >= self._due_at) | gone
        found = np.full(len(behind), UNKNOWN, np.int64)
        for p in np.flatnonzero(behind & due & np.isin(self._kind, tuple(FAULTS))).tolist():
            found[p] = self._firsts[p] + self._active[p]
        return found
