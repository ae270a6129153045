"""Rhythms: partitions whose waits come again: crash loops, commits by count, open transactions."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from support.detection.partitions import HOUR, Fault, Partition, Span
from support.detection.scenarios import Draw, quick


def _loop(
    rng: np.random.Generator,
    seconds: int,
    kind: Fault,
    length: float,
    every: float,
    times: int = 7,
) -> Partition:
    """The first one after an hour or more; each begins and ends a little early or late."""
    partition = quick(rng)
    partition.pause = float(rng.choice([1.0, 5.0, 30.0, 120.0, 300.0]))
    for turn in range(times):
        start = HOUR + turn * every + rng.uniform(0, 0.05) * every
        end = start + length * rng.uniform(0.9, 1.1)
        if end + 600 < seconds:
            partition.spans.append(Span(kind, int(start), int(end)))
    if len(partition.spans) > 2:  # from the third one on it is a loop
        partition.unwell = partition.spans[2].start, int(partition.spans[-1].start + 1.5 * every)
    return partition


def _crash_loops(rng: np.random.Generator, seconds: int) -> Partition:
    """Of 6 to 30 min, with half to three times as long between them."""
    length = rng.uniform(360, 1800)
    return _loop(rng, seconds, "crash", length, length * rng.uniform(1.5, 4), times=12)


def _brief_crash_loop(rng: np.random.Generator, seconds: int) -> Partition:
    """Of about a minute, every two to five."""
    length = rng.uniform(45, 110)
    return _loop(rng, seconds, "crash", length, length * rng.uniform(2, 5), times=20)


def by_count(rng: np.random.Generator) -> Partition:
    """It commits each 50, 200 or 1,000 records. In lulls what is left stays until more come."""
    partition = quick(rng)
    partition.by_count = int(rng.choice([50, 200, 1000]))
    partition.rate = partition.by_count / float(rng.uniform(2, 120))
    partition.pause, partition.commits_always, partition.commits_last = 1.0, False, False
    partition.capacity = max(partition.capacity, 10 / partition.rate)
    if rng.random() < 0.75:
        partition.producer, partition.quiet = "bursty", float(rng.choice([0.0, 0.02]))
        partition.burst_every = int(rng.uniform(600, 3600))
        partition.burst_for = int(partition.burst_every * rng.uniform(0.2, 0.7))
        partition.burst_factor = 1.0
    return partition


def _commits_by_count(rng: np.random.Generator, seconds: int) -> Partition:
    partition = by_count(rng)
    for start in rng.uniform(300, seconds - 600, seconds // HOUR):
        partition.add("producer_stop", start, start + rng.uniform(120, 3600), 300)
    return partition


def _crashes_by_count(rng: np.random.Generator, seconds: int) -> Partition:
    """In work, or at rest: then somebody has to see that nobody is there."""
    partition = by_count(rng)
    for at in np.arange(1.5 * HOUR, seconds - HOUR, 1.5 * HOUR):
        start = at + rng.uniform(0, 1200)
        kind: Fault = "crash" if rng.random() < 0.6 else "hang"
        partition.spans.append(Span(kind, int(start), int(start + rng.uniform(900, 2000))))
    return partition


def _open_transactions(rng: np.random.Generator, seconds: int, length: float) -> Partition:
    """As a producer writes them, one after the other or some minutes apart, and two that hang."""
    partition = quick(rng)
    for share in (0.5, 0.8):
        start = share * seconds + rng.uniform(0, 600)
        partition.spans.append(Span("open", int(start), int(start + rng.uniform(1500, 3000))))
    at = 120.0
    while at < seconds - 900:
        took = length * rng.uniform(0.7, 1.1)
        partition.add("transaction", at, at + took, 120)
        at += took + max(60, length) * rng.uniform(1, 6)
    return partition


def _short_jobs(rng: np.random.Generator, seconds: int) -> Partition:
    """A run each 10 to 60 min that leaves nothing; one does not come for twice as long."""
    partition = quick(rng)
    partition.pause, partition.committer, partition.capacity = rng.uniform(600, 3600), "batch", 20
    partition.membership = "job"
    start = 0.7 * seconds
    partition.spans.append(Span("crash", int(start), int(start + 3.5 * partition.pause)))
    return partition


def _minute_jobs(rng: np.random.Generator, seconds: int) -> Partition:
    """A run each minute to ten, that leaves nothing; then one does not come for long."""
    partition = quick(rng)
    partition.pause, partition.committer, partition.capacity = rng.uniform(60, 600), "batch", 20
    partition.membership = "job"
    start = 0.7 * seconds
    partition.spans.append(Span("crash", int(start), int(start + 3600)))
    return partition


def _minute_deploys(rng: np.random.Generator, seconds: int) -> Partition:
    """Commits each minute; nobody is there for up to one, every two hours or so."""
    partition = quick(rng)
    partition.pause = float(rng.uniform(45, 75))
    for start in rng.uniform(600, seconds - 600, seconds // (2 * HOUR)):
        partition.add("deploy", start, start + rng.uniform(20, 60))
    return partition


RHYTHMS: Mapping[str, Draw] = {
    "crash loop": partial(_loop, kind="crash", length=20 * 60, every=45 * 60),
    "crash loops": _crash_loops,
    # For two hours, as who is started again too often is put off.
    "quick crash loop": partial(_loop, kind="crash", length=180, every=600, times=12),
    "brief crash loop": _brief_crash_loop,
    # Its members are there.
    "hangs again": partial(_loop, kind="hang", length=20 * 60, every=45 * 60),
    "commits by count": _commits_by_count,
    "crashes by count": _crashes_by_count,
    "brief transactions": partial(_open_transactions, length=1.5),
    "half-minute transactions": partial(_open_transactions, length=30),
    "5-minute transactions": partial(_open_transactions, length=300),
    "short jobs": _short_jobs,
    "minute jobs": _minute_jobs,
    "minute deploys": _minute_deploys,
}
