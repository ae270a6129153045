"""Scenarios: kinds of partitions, drawn from one seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from support.detection.partitions import HOUR, Fault, Membership, Partition, Span

Draw = Callable[[np.random.Generator, int], Partition]
ALL_FAULTS: tuple[Fault, ...] = ("crash", "hang", "poison", "slow", "rewind")


def draw_partitions(seed: int, repeats: int, seconds: int) -> list[Partition]:
    """`repeats` partitions of each scenario; each is drawn from a stream of its own."""
    partitions = []
    for number, (name, draw) in enumerate(SCENARIOS.items()):
        for repeat in range(repeats):
            partition = draw(np.random.default_rng([seed, number, repeat]), seconds)
            partition.scenario = name
            partition.membership = _membership(partition, [seed, number, repeat])
            partition.spans.sort(key=lambda span: span.start)
            partitions.append(partition)
    return partitions


def _membership(partition: Partition, draw: list[int]) -> Membership:
    """One in ten assigns partitions to itself; every second batch is a job that comes and goes."""
    rng = np.random.default_rng([*draw, 1])
    if rng.random() < 0.1:
        return "alone"
    return "job" if partition.committer == "batch" and rng.random() < 0.5 else "member"


def _quick(rng: np.random.Generator) -> Partition:
    """Commits each few seconds, enough for the peaks of a day."""
    return Partition(
        "",
        rate=float(np.exp(rng.uniform(0, 6))),
        pause=float(rng.choice([1.0, 2.0, 5.0])),
        capacity=float(rng.uniform(2.2, 4)),
        phase=float(rng.uniform(0, 1)),
        burst_every=int(rng.integers(300, 900)),
        burst_for=int(rng.integers(20, 60)),
        burst_factor=float(rng.uniform(4, 10)),
        commits_always=bool(rng.random() < 0.4),
        commits_last=bool(rng.random() < 0.2),
    )


def _with_faults(
    rng: np.random.Generator,
    partition: Partition,
    seconds: int,
    *,
    kinds: tuple[Fault, ...] = ALL_FAULTS,
    every: float = 2 * HOUR,
    first: float = HOUR,
    length: tuple[float, float] = (900, 2200),
) -> Partition:
    """Faults far enough apart to recover in between."""
    at = first
    while at + every <= seconds:
        took = rng.uniform(*length)
        start = at + rng.uniform(0, max(every - took - 0.4 * HOUR, 1))
        kind = kinds[int(rng.integers(len(kinds)))]
        strength = rng.uniform(0.4, 0.9) if kind == "slow" else rng.uniform(600, 2400)
        partition.spans.append(Span(kind, int(start), int(start + took), float(strength)))
        at += every
    return partition


def _with_rebalances(
    rng: np.random.Generator,
    partition: Partition,
    seconds: int,
    length: tuple[float, float] = (5, 40),
    an_hour: float = 2,
) -> Partition:
    for start in rng.uniform(300, seconds - 300, round(seconds / HOUR * an_hour)):
        end = start + rng.uniform(*length)
        if partition.is_free(start, end):
            partition.spans.append(Span("rebalance", int(start), int(end)))
    return partition


def _usual(rng: np.random.Generator, seconds: int) -> Partition:
    return _with_rebalances(rng, _with_faults(rng, _quick(rng), seconds), seconds)


def _daily(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.producer = "daily"
    return partition


def _bursty(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.producer = "bursty"
    return partition


def _slow_committer(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.pause = float(rng.uniform(30, 300))
    return partition


def _irregular(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.pause, partition.committer = float(rng.uniform(5, 30)), "irregular"
    return partition


def _batch(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _quick(rng)
    partition.pause, partition.committer = float(rng.uniform(300, 1200)), "batch"
    partition.capacity = 20
    kinds: tuple[Fault, ...] = ("crash", "hang", "poison")
    return _with_faults(
        rng, partition, seconds, kinds=kinds, every=4 * HOUR, first=2 * HOUR, length=(4000, 6000)
    )


def _hourly_batch(rng: np.random.Generator, seconds: int) -> Partition:
    """Its work is late by two runs, once."""
    partition = _quick(rng)
    partition.pause, partition.committer, partition.capacity = 3600.0, "batch", 20
    start = 0.6 * seconds
    partition.spans.append(Span("crash", int(start), int(start + 2.5 * HOUR)))
    return partition


def _trickling(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _quick(rng)
    partition.rate, partition.capacity = 1 / float(rng.uniform(20, 400)), 1000.0
    kinds: tuple[Fault, ...] = ("crash", "hang", "poison")
    return _with_rebalances(rng, _with_faults(rng, partition, seconds, kinds=kinds), seconds)


def _record_in_hours(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _quick(rng)
    partition.rate, partition.capacity = 1 / float(rng.uniform(2000, 6000)), 10_000.0
    return _with_faults(rng, partition, seconds, kinds=("crash",), every=4 * HOUR)


def _slow_rebalances(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_faults(rng, _quick(rng), seconds)
    return _with_rebalances(rng, partition, seconds, (30, 180))


def _pauses(rng: np.random.Generator, seconds: int) -> Partition:
    """Stop-the-world for 60 to 600 s, every 2 to 10 times as long."""
    kinds: tuple[Fault, ...] = ("crash", "hang", "poison")
    partition = _with_faults(rng, _quick(rng), seconds, kinds=kinds, first=3 * HOUR, every=3 * HOUR)
    length = rng.uniform(60, 600)
    every = length * rng.uniform(2, 10)
    for start in np.arange(rng.uniform(60, every), seconds - 700, every):
        begins = start + rng.uniform(-0.05, 0.05) * every
        end = begins + length * rng.uniform(0.85, 1.15)
        if partition.is_free(begins, end, 300):
            partition.spans.append(Span("pause", int(begins), int(end)))
    return partition


def _constant_backlog(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_rebalances(rng, _quick(rng), HOUR)
    start = rng.uniform(1, 2) * HOUR
    end = min(start + 3 * HOUR, seconds - 0.5 * HOUR)
    partition.spans.append(Span("backlog", int(start), int(end), float(rng.uniform(900, 2400))))
    return partition


def _early(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _quick(rng)
    start = rng.uniform(60, 600)
    kind: Fault = "crash" if rng.random() < 0.5 else "poison"
    partition.spans.append(Span(kind, int(start), int(start + rng.uniform(900, 2400))))
    return _with_faults(rng, partition, seconds, first=2 * HOUR)


def _skewed_clock(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.clock = int(rng.choice([-1, 1]) * rng.uniform(60, 1800))
    return partition


def _long_work(rng: np.random.Generator, seconds: int) -> Partition:
    """A record takes minutes, and there are fewer than it could do."""
    partition = _quick(rng)
    partition.work_first = float(rng.uniform(30, 200))
    partition.rate, partition.pause = 0.5 / partition.work_first, 1.0
    partition.commits_always = False
    kinds: tuple[Fault, ...] = ("crash", "hang")
    return _with_faults(rng, partition, seconds, kinds=kinds, length=(1500, 3000))


def _unknown_ends(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_faults(rng, _quick(rng), seconds, kinds=("crash", "hang"))
    return _with_events(rng, partition, seconds, "unknown_end", (20, 400))


def _transactions(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_faults(rng, _quick(rng), seconds)
    return _with_events(rng, partition, seconds, "transaction", (10, 60))


def _resets(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_faults(rng, _quick(rng), seconds, kinds=("crash", "slow"))
    return _with_events(rng, partition, seconds, "skip", (1, 2))


def _replays(rng: np.random.Generator, seconds: int) -> Partition:
    """By an operator, read 3.5 times as fast as the log grows."""
    partition = _quick(rng)
    partition.capacity = 3.5
    start = rng.uniform(1.2, 2) * HOUR
    partition.spans.append(
        Span("rewind", int(start), int(start + 10), float(rng.uniform(1, 2) * HOUR))
    )
    return _with_rebalances(rng, partition, seconds)


def _scale_out(rng: np.random.Generator, seconds: int) -> Partition:
    """Members come and go in bunches: three rebalances in ten minutes."""
    partition = _with_faults(rng, _quick(rng), seconds)
    for bunch in rng.uniform(600, seconds - 1200, seconds // (2 * HOUR)):
        for start in bunch + np.sort(rng.uniform(0, 600, 3)):
            end = start + rng.uniform(5, 60)
            if partition.is_free(start, end, 60):
                partition.spans.append(Span("rebalance", int(start), int(end)))
    return partition


def _flapping_members(rng: np.random.Generator, seconds: int) -> Partition:
    """A rebalance every one to three minutes, all day; what there is gets read."""
    partition = _with_faults(rng, _quick(rng), seconds, kinds=("crash", "hang"), every=3 * HOUR)
    at = 60.0
    while at < seconds - 120:
        took = rng.uniform(8, 35)
        if partition.is_free(at, at + took, 60):
            partition.spans.append(Span("rebalance", int(at), int(at + took)))
        at += took + rng.uniform(60, 180)
    return partition


def _repeated_crashes(rng: np.random.Generator, seconds: int) -> Partition:
    """Of twenty minutes, every hour or so: no habit."""
    kinds: tuple[Fault, ...] = ("crash",)
    partition = _quick(rng)
    return _with_faults(rng, partition, seconds, kinds=kinds, every=1.2 * HOUR, length=(1100, 1300))


def _zombies(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_faults(rng, _quick(rng), seconds, kinds=("crash", "hang"))
    return _with_events(rng, partition, seconds, "zombie", (1, 2))


def _falling_ends(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _slow_committer(rng, seconds)
    return _with_events(rng, partition, seconds, "end_falls", (5, 6))


def _with_events(
    rng: np.random.Generator,
    partition: Partition,
    seconds: int,
    kind: str,
    length: tuple[float, float],
) -> Partition:
    for start in rng.uniform(300, seconds - 600, seconds // HOUR):
        end = start + rng.uniform(*length)
        if partition.is_free(start, end):
            partition.spans.append(Span(kind, int(start), int(end)))  # type: ignore[arg-type]  # one of the harmless
    return partition


SCENARIOS: Mapping[str, Draw] = {
    "usual": _usual,
    "daily": _daily,
    "bursty producer": _bursty,
    "slow committer": _slow_committer,
    "irregular": _irregular,
    "batch": _batch,
    "hourly batch skips": _hourly_batch,
    "trickling": _trickling,
    "record in hours": _record_in_hours,
    "slow rebalances": _slow_rebalances,
    "periodic pauses": _pauses,
    "constant backlog": _constant_backlog,
    "fault at first": _early,
    "skewed clock": _skewed_clock,
    "long work": _long_work,
    "unknown ends": _unknown_ends,
    "transactions": _transactions,
    "resets": _resets,
    "replays": _replays,
    "scale-out": _scale_out,
    "flapping members": _flapping_members,
    "repeated crashes": _repeated_crashes,
    "zombies": _zombies,
    "falling ends": _falling_ends,
}
