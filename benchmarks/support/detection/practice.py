"""Practice: what healthy consumers do at work, half of it to develop on, half for reporting alone.

All kinds of `DEVELOPED` may be looked at; of `REPORTED` only figures are, once they are written
down.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from support.detection.partitions import HOUR, Fault, Harmless, Partition, Span
from support.detection.rhythms import by_count
from support.detection.scenarios import ALL_FAULTS, STOPS, Draw, quick, with_faults


def _broken(
    rng: np.random.Generator,
    partition: Partition,
    seconds: int,
    kinds: tuple[Fault, ...] = ALL_FAULTS,
    every: float = 2.5 * HOUR,
    length: tuple[float, float] = (900, 2700),
) -> Partition:
    """Faults, which come first: what is harmless keeps away from them."""
    return with_faults(
        rng,
        partition,
        seconds,
        kinds=kinds,
        every=every,
        length=length,
        after=1500,
        slow=(0.3, 0.9),
    )


def _now_and_then(
    rng: np.random.Generator,
    partition: Partition,
    seconds: int,
    kind: Harmless,
    length: tuple[float, float],
    apart: tuple[float, float],
    strength: tuple[float, float] = (0, 0),
) -> Partition:
    """Harmless spans, from the end of one to the beginning of the next."""
    at = float(rng.uniform(60, apart[1]))
    while at < seconds - 900:
        took = float(rng.uniform(*length))
        if partition.is_free(at, at + took, 300):
            span = Span(kind, int(at), int(at + took), float(rng.uniform(*strength)))
            partition.spans.append(span)
        at += took + float(rng.uniform(*apart))
    return partition


@dataclass(frozen=True, slots=True)
class NowAndThen:
    """A kind to which the same harmless thing happens now and then; seconds."""

    harmless: Harmless
    length: tuple[float, float]
    apart: tuple[float, float]
    strength: tuple[float, float] = (0, 0)
    pause: float | None = None
    faults: tuple[Fault, ...] = ALL_FAULTS
    drawn: Callable[[np.random.Generator], Partition] = quick

    def __call__(self, rng: np.random.Generator, seconds: int) -> Partition:
        partition = _broken(rng, self.drawn(rng), seconds, self.faults)
        partition.pause = self.pause or partition.pause
        span = self.harmless, self.length, self.apart, self.strength
        return _now_and_then(rng, partition, seconds, *span)


def _autoscaler(rng: np.random.Generator, seconds: int) -> Partition:
    """Too few members at the peak of the day, until more come."""
    partition = _broken(rng, quick(rng), seconds, STOPS)
    partition.producer, partition.phase = "daily", float(rng.uniform(0, 1))
    partition.capacity, partition.scales = float(rng.uniform(1.2, 1.6)), 2.0
    return partition


def _locked_cron(rng: np.random.Generator, seconds: int) -> Partition:
    """A job each 5 to 20 min; who has no lock is a member all the same."""
    partition = quick(rng)
    partition.committer, partition.pause = "batch", float(rng.uniform(300, 1200))
    partition.capacity, partition.membership = 30, "alone"
    return _broken(rng, partition, seconds, STOPS, 4 * HOUR, (4500, 7000))


def _canary(rng: np.random.Generator, seconds: int) -> Partition:
    """One member, then half of them, then all: three rebalances within 15 min."""
    partition = _broken(rng, quick(rng), seconds)
    for first in np.arange(rng.uniform(600, 5000), seconds - 1800, rng.uniform(2, 5) * HOUR):
        for start in first + np.array([0, 300, 700]):
            partition.add("rebalance", start, start + rng.uniform(10, 70), 60)
    return partition


def _hourly_import(rng: np.random.Generator, seconds: int) -> Partition:
    """Each hour much is written within minutes, which takes a quarter of an hour to read."""
    partition = _broken(rng, quick(rng), seconds, STOPS)
    partition.producer, partition.burst_every = "bursty", 3600
    partition.burst_for = int(rng.uniform(120, 480))
    partition.burst_factor, partition.quiet = float(rng.uniform(5, 9)), 0.6
    return partition


def _flaky_commits(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _broken(rng, quick(rng), seconds)
    partition.pause, partition.leaves_out = 15.0, 0.2
    return partition


def _few_records(rng: np.random.Generator, seconds: int) -> Partition:
    """One in 1 to 20 min, each worked on for up to a minute."""
    partition = quick(rng)
    partition.rate, partition.work_first = (
        1 / float(rng.uniform(60, 1200)),
        float(rng.uniform(1, 60)),
    )
    partition.commits_always = False
    partition.pause = 1.0
    return _broken(rng, partition, seconds, STOPS, length=(4000, 7000), every=4 * HOUR)


def _slow_at_last(rng: np.random.Generator, seconds: int) -> Partition:
    partition = quick(rng)
    start, took = 0.75 * seconds, rng.uniform(2400, 3600)
    strength = float(rng.uniform(0.3, 0.7))
    partition.spans.append(Span("slow", int(start), int(start + took), strength))
    return partition


def _hourly_report(rng: np.random.Generator, seconds: int) -> Partition:
    """Each hour a report keeps the database busy that it writes to, for 12 to 18 min."""
    partition = _slow_at_last(rng, seconds)
    took, strength = float(rng.uniform(720, 1080)), float(rng.uniform(0.3, 0.8))
    for start in np.arange(rng.uniform(0, HOUR), seconds - HOUR / 2, HOUR):
        partition.add("brown_out", start, start + took, 300, strength)
    return partition


def _hourly_dump(rng: np.random.Generator, seconds: int) -> Partition:
    """Each hour somebody writes more than it can read, for 12 to 15 min."""
    partition = _slow_at_last(rng, seconds)
    partition.producer, partition.burst_every = "bursty", HOUR
    partition.burst_for, partition.quiet = int(rng.uniform(720, 900)), 0.3
    return partition


def _woken(rng: np.random.Generator, seconds: int) -> Partition:
    """Scaled to nothing while nothing comes; the first record wakes it."""
    partition = quick(rng)
    partition.committer, partition.pause = "batch", float(rng.uniform(30, 90))
    partition.capacity, partition.membership = 10, "job"
    partition.producer, partition.quiet = "bursty", 0.0
    partition.burst_every, partition.burst_for = int(rng.uniform(900, 3600)), 300
    return _broken(rng, partition, seconds, STOPS, 3 * HOUR)


def _micro_batches(rng: np.random.Generator, seconds: int) -> Partition:
    """Spark's, each 1 to 5 min; one takes longer now and then."""
    partition = _broken(rng, quick(rng), seconds, STOPS)
    partition.pause = float(rng.uniform(60, 300))
    length = partition.pause * 0.5, partition.pause * 1.5
    return _now_and_then(rng, partition, seconds, "retry", length, (HOUR, 4 * HOUR))


def _backfill(rng: np.random.Generator, seconds: int) -> Partition:
    """Ten times as much for some minutes, every few hours."""
    partition = _broken(rng, quick(rng), seconds, STOPS)
    partition.producer, partition.burst_every = "bursty", int(rng.uniform(2, 4) * HOUR)
    partition.burst_for, partition.burst_factor = int(rng.uniform(100, 400)), 10.0
    partition.quiet, partition.capacity = 0.9, float(rng.uniform(3, 5))
    return partition


def _quota(rng: np.random.Generator, seconds: int) -> Partition:
    """Throttled for some seconds of each minute, and more at the peak of the day."""
    partition = _broken(rng, quick(rng), seconds, ("crash", "hang", "slow"))
    partition.producer, partition.unsettled = "daily", (int(rng.integers(5, 20)), 60)
    partition.capacity = 4.0
    return partition


def _elections(rng: np.random.Generator, seconds: int) -> Partition:
    """Leaders move: nobody can say where the log ends, and nobody reads."""
    partition = _broken(rng, quick(rng), seconds)
    partition = _now_and_then(rng, partition, seconds, "unknown_end", (20, 90), (HOUR, 3 * HOUR))
    return _now_and_then(rng, partition, seconds, "retry", (10, 40), (HOUR, 3 * HOUR))


def _few_workers(rng: np.random.Generator, seconds: int) -> Partition:
    """Each record takes 10 to 90 s; some come close together."""
    partition = quick(rng)
    partition.work_first = float(rng.uniform(10, 90))
    partition.rate, partition.pause = 0.3 / partition.work_first, 1.0
    partition.commits_always, partition.producer = False, "bursty"
    return _broken(rng, partition, seconds, STOPS, 3 * HOUR, (2400, 4000))


DEVELOPED: Mapping[str, Draw] = {
    "autoscaler": _autoscaler,
    "retries": NowAndThen("retry", (62, 64), (900, 5400)),  # 1, 2, 4 ... 32 s
    "brown-outs": NowAndThen("brown_out", (90, 420), (1800, 9000), (0.1, 0.7)),
    "locked cron": _locked_cron,
    "canary": _canary,
    "collections": NowAndThen("pause", (20, 100), (1200, 9000)),  # of garbage
    "hourly import": _hourly_import,
    "mirror": NowAndThen("deploy", (60, 180), (10_800, 28_800), (0, 0), 60, STOPS),
    "flaky commits": _flaky_commits,
    "few records": _few_records,
    "hourly report": _hourly_report,
    # Acknowledged each so many records; what is left in a lull waits.
    "by count": NowAndThen("producer_stop", (300, 3600), (1800, 7200), drawn=by_count),
    # What it writes to is slow for a while; before, it was so for seconds.
    "slow store": NowAndThen("brown_out", (20, 60), (1800, 7200), (0.3, 0.8), faults=("slow",)),
}
REPORTED: Mapping[str, Draw] = {
    "woken": _woken,
    "outages": NowAndThen("retry", (60, 180), (7200, 21_600)),  # of what it calls
    "static members": NowAndThen("retry", (20, 60), (7200, 18_000)),  # restarted one by one
    "micro-batches": _micro_batches,
    "sink": NowAndThen("rebalance", (10, 90), (3600, 14_400), (0, 0), 60),
    "lunch": NowAndThen("brown_out", (480, 900), (10_800, 21_600), (0.8, 0.95), None, STOPS),
    "backfill": _backfill,
    "quota": _quota,
    "elections": _elections,
    "few workers": _few_workers,
    "hourly dump": _hourly_dump,
    "counted batches": NowAndThen("rebalance", (10, 60), (1800, 7200), drawn=by_count),
    "slow calls": NowAndThen("retry", (10, 40), (3600, 14_400), faults=("slow",)),
}
