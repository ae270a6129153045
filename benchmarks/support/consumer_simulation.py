"""Simulated partitions: producers, consumers and faults, second by second, with the truth.

Each partition has a producer, a committer and a schedule of faults of its own, all drawn from one
seed. The truth is what an operator who sees everything would say: a partition is in trouble while a
fault keeps it from reading what is there to be read, until the fault ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Producer = Literal["steady", "bursty", "daily", "trickling"]
Committer = Literal["fast", "slow", "bursty", "batch"]
Fault = Literal["crash", "hang", "poison", "slow", "rewind"]
Harmless = Literal["rebalance", "producer_stop"]

PRODUCERS: tuple[Producer, ...] = ("steady", "bursty", "daily", "trickling")
COMMITTERS: tuple[Committer, ...] = ("fast", "slow", "bursty", "batch")
HOUR = 3600
DAY = 6 * HOUR  # a short one
BATCH_COMMIT = 2  # seconds between commits while a batch runs
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Span(NamedTuple):
    """One fault or harmless event of a partition, in seconds from the start."""

    partition: int
    kind: Fault | Harmless
    start: int
    end: int  # of what is wrong; a rewind lasts until the consumer is back
    strength: float


@dataclass(frozen=True, slots=True)
class Profile:
    """What the partitions are like, [partition] each."""

    producer: list[Producer]
    committer: list[Committer]
    rate: Floats  # mean records/s
    phase: Floats  # of bursts and days, 0 to 1
    burst_every: Ints  # seconds
    burst_for: Ints
    burst_factor: Floats
    pause: Floats  # usual seconds between commits; between the runs of a batch
    capacity: Floats  # records/s that the consumer can process
    commits_always: Bools  # also an offset that it has committed before
    commits_last: Bools  # the last offset processed, not the next one


@dataclass(frozen=True, slots=True)
class Tick:
    """What a collector sees, and the truth, [partition] each."""

    second: int
    committed: Ints
    committed_at: Ints  # seconds
    commits: Ints  # since the last tick
    log_end: Ints
    fault: Ints  # index of the span that keeps the partition from reading; -1 none
    recovering: Bools  # the fault is over, its backlog is not


def draw_profile(rng: np.random.Generator, repeats: int) -> Profile:
    """Every producer with every committer, `repeats` times."""
    pairs = [(p, c) for p in PRODUCERS for c in COMMITTERS for _ in range(repeats)]
    n = len(pairs)
    producer, committer = [p for p, _ in pairs], [c for _, c in pairs]
    trickles = np.array([p == "trickling" for p in producer])
    rate = np.where(trickles, 1 / rng.uniform(20, 400, n), np.exp(rng.uniform(0, 6, n)))
    pauses = {
        "fast": rng.choice([1.0, 2.0, 5.0], n),
        "slow": rng.uniform(30, 300, n),
        "bursty": rng.uniform(5, 30, n),
        "batch": rng.uniform(300, 1200, n),
    }
    burst_every, burst_factor = rng.integers(300, 900, n), rng.uniform(4, 10, n)
    burst_for = rng.integers(20, 60, n)
    is_batch = np.array([c == "batch" for c in committer])
    # Enough for the peaks of the day, not for a burst while it lasts; batches work fast.
    capacity = rate * np.where(is_batch, 20, rng.uniform(2.2, 4, n))
    return Profile(
        producer=producer,
        committer=committer,
        rate=rate,
        phase=rng.uniform(0, 1, n),
        burst_every=burst_every,
        burst_for=burst_for,
        burst_factor=burst_factor,
        pause=np.array([pauses[c][i] for i, c in enumerate(committer)]),
        capacity=np.maximum(capacity, 2.0),
        commits_always=rng.random(n) < 0.4,
        commits_last=rng.random(n) < 0.2,
    )


def draw_spans(rng: np.random.Generator, profile: Profile, seconds: int) -> list[Span]:
    """Faults far enough apart to recover in between, after an hour of health; harmless events."""
    spans: list[Span] = []
    for p, committer in enumerate(profile.committer):
        is_batch = committer == "batch"
        every = (3 if is_batch else 1.6) * HOUR
        kinds: list[Fault] = ["crash", "hang", "poison", "rewind"]
        if not is_batch and profile.producer[p] != "trickling":
            kinds.append("slow")
        at = (2.0 if is_batch else 1.0) * HOUR
        while at + every < seconds:
            length = rng.uniform(1.0, 1.5) * HOUR if is_batch else rng.uniform(0.25, 0.6) * HOUR
            start = at + rng.uniform(0, every - length - 0.5 * HOUR)
            kind = kinds[int(rng.integers(len(kinds)))]
            strength = rng.uniform(0.4, 0.9) if kind == "slow" else rng.uniform(600, 2400)
            spans.append(Span(p, kind, int(start), int(start + length), strength))
            quiet = start + length + 0.25 * HOUR
            if rng.random() < 0.5 and quiet + 900 < at + every:
                spans.append(Span(p, "producer_stop", int(quiet), int(at + every), 0))
            at += every
        taken = [(s.start - 120, s.end + 900) for s in spans if s.partition == p]
        for start in rng.uniform(600, seconds - 600, seconds // (HOUR // 2)):
            end = start + rng.uniform(5, 40)
            if not any(a < end and start < b for a, b in taken):
                spans.append(Span(p, "rebalance", int(start), int(end), 0))
    return spans


class Simulation:
    """Runs the partitions; `ticks` tells what a collector sees every `interval` seconds."""

    def __init__(self, seed: int, repeats: int, seconds: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.seconds = seconds
        self.profile = draw_profile(self._rng, repeats)
        self.spans = draw_spans(self._rng, self.profile, seconds)
        n = len(self.profile.rate)
        self._end = np.full(n, 10_000, np.int64)
        self._done = self._end.copy()
        self._committed = self._end - self.profile.commits_last
        self._committed_at = np.zeros(n, np.int64)
        self._next_commit = self._rng.uniform(0, self.profile.pause)
        self._running = np.ones(n, np.bool_)  # a batch that is under way
        self._credit = np.zeros(n)
        self._active = np.full(n, -1, np.int64)  # span that is in force
        self._back_to = np.zeros(n, np.int64)  # where a rewound consumer was
        self._recovering = np.zeros(n, np.bool_)
        self._is_batch = np.array([c == "batch" for c in self.profile.committer])
        self._is_irregular = np.array([c == "bursty" for c in self.profile.committer])
        self._is_daily = np.array([p == "daily" for p in self.profile.producer])
        self._is_bursty = np.array([p == "bursty" for p in self.profile.producer])
        self._by_start: dict[int, list[int]] = {}
        for index, span in enumerate(self.spans):
            self._by_start.setdefault(span.start, []).append(index)

    def ticks(self, interval: int) -> Iterator[Tick]:
        commits = np.zeros(len(self._is_batch), np.int64)
        for second in range(self.seconds):
            self._begin_and_end_spans(second)
            kind = self._kinds()
            rate = self._rates(second) * (kind != "producer_stop")
            self._end += self._rng.poisson(rate)
            self._process(kind, rate)
            commits += self._commit(second, kind)
            self._note_recovery()
            if second % interval == interval - 1:
                yield Tick(
                    second=second,
                    committed=self._committed.copy(),
                    committed_at=self._committed_at.copy(),
                    commits=commits.copy(),
                    log_end=self._end.copy(),
                    fault=self._troubles(kind),
                    recovering=self._recovering.copy(),
                )
                commits[:] = 0

    def _kinds(self) -> NDArray[np.str_]:
        return np.array(["" if i < 0 else self.spans[i].kind for i in self._active.tolist()])

    def _rates(self, second: int) -> Floats:
        profile = self.profile
        day = 1 + 0.8 * np.sin(2 * np.pi * (second / DAY + profile.phase))
        moment = (second + profile.phase * 900) % profile.burst_every
        burst = np.where(moment < profile.burst_for, profile.burst_factor, 0.5)
        factor = np.where(self._is_daily, day, np.where(self._is_bursty, burst, 1.0))
        rates: Floats = profile.rate * factor
        return rates

    def _begin_and_end_spans(self, second: int) -> None:
        for p in np.flatnonzero(self._active >= 0).tolist():
            span = self.spans[self._active[p]]
            if span.kind == "rewind":
                over = self._committed[p] >= self._back_to[p]
            else:
                over = second >= span.end
            if over:
                self._active[p] = -1
                self._recovering[p] = span.kind not in ("rebalance", "producer_stop")
                if span.kind in ("crash", "rebalance"):  # what was not committed is read again
                    self._done[p] = self._committed[p] + self.profile.commits_last[p]
        for index in self._by_start.get(second, []):
            span = self.spans[index]
            if self._active[span.partition] >= 0:
                continue  # a rewound consumer is still on its way
            self._active[span.partition] = index
            if span.kind == "rewind":
                self._rewind(span, second)

    def _rewind(self, span: Span, second: int) -> None:
        p = span.partition
        back = max(int(span.strength * self.profile.rate[p]), 3)
        self._back_to[p] = self._committed[p]
        self._committed[p] = max(self._committed[p] - back, 0)
        self._committed_at[p] = second
        self._done[p] = self._committed[p]

    def _process(self, kind: NDArray[np.str_], rate: Floats) -> None:
        works = ~np.isin(kind, ("crash", "hang", "poison", "rebalance")) & self._running
        speed = self.profile.capacity.copy()
        for p in np.flatnonzero(kind == "slow").tolist():
            # Measured by what comes in, so that it is too slow at any time of the day.
            speed[p] = self.spans[self._active[p]].strength * rate[p]
        self._credit = np.where(works, np.minimum(self._credit + speed, speed + 1), 0)
        taken = np.minimum(self._end - self._done, self._credit.astype(np.int64))
        self._done += np.maximum(taken, 0) * works
        self._credit -= np.maximum(taken, 0) * works
        finished = self._is_batch & works & (self._done >= self._end)
        self._running &= ~finished
        self._next_commit[finished] = 0

    def _commit(self, second: int, kind: NDArray[np.str_]) -> Ints:
        alive = ~np.isin(kind, ("crash", "hang", "rebalance"))
        due = alive & (second >= self._next_commit)
        starts = due & self._is_batch & ~self._running & (self._next_commit > 0)
        self._running |= starts
        offset = self._done - self.profile.commits_last
        makes = due & ((offset > self._committed) | self.profile.commits_always)
        makes |= due & (kind == "poison")
        makes &= (offset >= self._committed) | (kind == "poison")
        self._committed = np.where(makes, np.maximum(offset, self._committed), self._committed)
        self._committed_at[makes] = second
        pause = self._next_pauses()
        self._next_commit = np.where(due, second + pause, self._next_commit)
        return makes.astype(np.int64)

    def _next_pauses(self) -> Floats:
        profile, n = self.profile, len(self._is_batch)
        jitter = self._rng.uniform(0.9, 1.1, n)
        pause = profile.pause * jitter
        drawn = np.minimum(self._rng.exponential(1, n), 5) * profile.pause
        pause = np.where(self._is_irregular, np.maximum(drawn, 1), pause)
        return np.where(self._is_batch & self._running, BATCH_COMMIT, pause)

    def _note_recovery(self) -> None:
        usual = self.profile.rate * self.profile.pause * 1.5 + 3
        drained = self._end - self._committed <= usual
        self._recovering &= ~drained

    def _troubles(self, kind: NDArray[np.str_]) -> Ints:
        """A fault hurts while there is something to read."""
        harmful = np.isin(kind, ("crash", "hang", "poison", "slow", "rewind"))
        behind = self._end - self._committed > self.profile.commits_last
        return np.where(harmful & behind, self._active, -1)
