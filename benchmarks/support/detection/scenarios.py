"""Scenarios: kinds of partitions, drawn from one seed."""

from collections.abc import Callable, Container, Mapping
from functools import partial

import numpy as np
from support.detection.partitions import (
    FAULTS,
    HOUR,
    Fault,
    Harmless,
    Membership,
    Partition,
    Producer,
    Span,
)

Draw = Callable[[np.random.Generator, int], Partition]
ALL_FAULTS: tuple[Fault, ...] = ("crash", "hang", "poison", "slow", "rewind")
STOPS: tuple[Fault, ...] = ("crash", "hang")
STUCK: tuple[Fault, ...] = (*STOPS, "poison")


def draw_partitions(
    seed: int,
    repeats: int,
    seconds: int,
    scenarios: Mapping[str, Draw],
    wanted: Container[str],
    share_of_faults: float = 1.0,
) -> list[Partition]:
    """`repeats` partitions of each wanted scenario; each is drawn from a stream of its own. What is
    harmless happens all the same where only a share of the faults does.
    """
    partitions = []
    for number, (name, draw) in enumerate(scenarios.items()):
        for repeat in range(repeats if name in wanted else 0):
            partition = draw(np.random.default_rng([seed, number, repeat]), seconds)
            partition.scenario = name
            if partition.membership == "member":
                partition.membership = _membership(partition, [seed, number, repeat])
            spared = np.random.default_rng([seed, number, repeat, 2]).random(len(partition.spans))
            partition.spans = [
                span
                for span, chance in zip(partition.spans, spared, strict=True)
                if span.kind not in FAULTS or chance < share_of_faults
            ]
            partition.spans.sort(key=lambda span: span.start)
            partitions.append(partition)
    return partitions


def _membership(partition: Partition, draw: list[int]) -> Membership:
    """One in ten assigns partitions to itself; every second batch is a job that comes and goes."""
    rng = np.random.default_rng([*draw, 1])
    if rng.random() < 0.1:
        return "alone"
    return "job" if partition.committer == "batch" and rng.random() < 0.5 else "member"


def quick(rng: np.random.Generator) -> Partition:
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


def with_faults(
    rng: np.random.Generator,
    partition: Partition,
    seconds: int,
    *,
    kinds: tuple[Fault, ...] = ALL_FAULTS,
    every: float = 2 * HOUR,
    first: float = HOUR,
    length: tuple[float, float] = (900, 2200),
    after: float = 0.4 * HOUR,
    slow: tuple[float, float] = (0.4, 0.9),
) -> Partition:
    """Faults far enough apart to recover in between."""
    at = first
    while at + every <= seconds:
        took = rng.uniform(*length)
        start = at + rng.uniform(0, max(every - took - after, 1))
        kind = kinds[int(rng.integers(len(kinds)))]
        strength = rng.uniform(*slow) if kind == "slow" else rng.uniform(600, 2400)
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
        partition.add("rebalance", start, start + rng.uniform(*length))
    return partition


def _usual(rng: np.random.Generator, seconds: int, producer: Producer = "steady") -> Partition:
    partition = with_faults(rng, quick(rng), seconds)
    partition.producer = producer
    return _with_rebalances(rng, partition, seconds)


def _slow_committer(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.pause = float(rng.uniform(30, 300))
    return partition


def _irregular(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.pause, partition.committer = float(rng.uniform(5, 30)), "irregular"
    return partition


def _batch(rng: np.random.Generator, seconds: int) -> Partition:
    partition = quick(rng)
    partition.pause, partition.committer = float(rng.uniform(300, 1200)), "batch"
    partition.capacity = 20
    return with_faults(
        rng, partition, seconds, kinds=STUCK, every=4 * HOUR, first=2 * HOUR, length=(4000, 6000)
    )


def _hourly_batch(rng: np.random.Generator, seconds: int) -> Partition:
    """Its work is late by two runs, once."""
    partition = quick(rng)
    partition.pause, partition.committer, partition.capacity = 3600.0, "batch", 20
    start = 0.6 * seconds
    partition.spans.append(Span("crash", int(start), int(start + 2.5 * HOUR)))
    return partition


def _trickling(rng: np.random.Generator, seconds: int) -> Partition:
    partition = quick(rng)
    partition.rate, partition.capacity = 1 / float(rng.uniform(20, 400)), 1000.0
    return _with_rebalances(rng, with_faults(rng, partition, seconds, kinds=STUCK), seconds)


def _record_in_hours(rng: np.random.Generator, seconds: int) -> Partition:
    partition = quick(rng)
    partition.rate, partition.capacity = 1 / float(rng.uniform(2000, 6000)), 10_000.0
    return with_faults(rng, partition, seconds, kinds=("crash",), every=4 * HOUR)


def _slow_rebalances(rng: np.random.Generator, seconds: int) -> Partition:
    return _with_rebalances(rng, with_faults(rng, quick(rng), seconds), seconds, (30, 180))


def _pauses(rng: np.random.Generator, seconds: int) -> Partition:
    """Stop-the-world for 60 to 600 s, every 2 to 10 times as long."""
    partition = with_faults(rng, quick(rng), seconds, kinds=STUCK, first=3 * HOUR, every=3 * HOUR)
    length = rng.uniform(60, 600)
    every = length * rng.uniform(2, 10)
    for start in np.arange(rng.uniform(60, every), seconds - 700, every):
        begins = start + rng.uniform(-0.05, 0.05) * every
        partition.add("pause", begins, begins + length * rng.uniform(0.85, 1.15), 300)
    return partition


def _constant_backlog(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_rebalances(rng, quick(rng), HOUR)
    start = rng.uniform(1, 2) * HOUR
    end = min(start + 3 * HOUR, seconds - 0.5 * HOUR)
    partition.spans.append(Span("backlog", int(start), int(end), float(rng.uniform(900, 2400))))
    return partition


def _early(rng: np.random.Generator, seconds: int) -> Partition:
    partition = quick(rng)
    start = rng.uniform(60, 600)
    kinds: tuple[Fault, ...] = ("crash", "hang", "poison", "slow")
    kind, end = kinds[int(rng.integers(len(kinds)))], start + rng.uniform(900, 2400)
    partition.spans.append(Span(kind, int(start), int(end), float(rng.uniform(0.4, 0.9))))
    return with_faults(rng, partition, seconds, first=2 * HOUR)


def _skewed_clock(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _usual(rng, seconds)
    partition.clock = int(rng.choice([-1, 1]) * rng.uniform(60, 1800))
    return partition


def _long_work(rng: np.random.Generator, seconds: int) -> Partition:
    """A record takes minutes, and there are fewer than it could do."""
    partition = quick(rng)
    partition.work_first = float(rng.uniform(30, 200))
    partition.rate, partition.pause = 0.5 / partition.work_first, 1.0
    partition.commits_always = False
    return with_faults(rng, partition, seconds, kinds=STOPS, length=(1500, 3000))


def _replays(rng: np.random.Generator, seconds: int) -> Partition:
    """By an operator, read 3.5 times as fast as the log grows."""
    partition = quick(rng)
    partition.capacity = 3.5
    start = rng.uniform(1.2, 2) * HOUR
    partition.spans.append(
        Span("rewind", int(start), int(start + 10), float(rng.uniform(1, 2) * HOUR))
    )
    return _with_rebalances(rng, partition, seconds)


def _scale_out(rng: np.random.Generator, seconds: int) -> Partition:
    """Members come and go in bunches: three rebalances in ten minutes."""
    partition = with_faults(rng, quick(rng), seconds)
    for bunch in rng.uniform(600, seconds - 1200, seconds // (2 * HOUR)):
        for start in bunch + np.sort(rng.uniform(0, 600, 3)):
            partition.add("rebalance", start, start + rng.uniform(5, 60), 60)
    return partition


def _flapping_members(rng: np.random.Generator, seconds: int) -> Partition:
    """A rebalance every one to three minutes, all day; what there is gets read."""
    partition = with_faults(rng, quick(rng), seconds, kinds=STOPS, every=3 * HOUR)
    at = 60.0
    while at < seconds - 120:
        took = rng.uniform(8, 35)
        partition.add("rebalance", at, at + took, 60)
        at += took + rng.uniform(60, 180)
    return partition


def _repeated_crashes(rng: np.random.Generator, seconds: int) -> Partition:
    """Of twenty minutes, every hour or so: no habit."""
    partition = quick(rng)
    return with_faults(
        rng, partition, seconds, kinds=("crash",), every=1.2 * HOUR, length=(1100, 1300)
    )


def _falling_ends(rng: np.random.Generator, seconds: int) -> Partition:
    return _with_events(rng, _slow_committer(rng, seconds), seconds, "end_falls", (5, 6))


def _unsettled(rng: np.random.Generator, seconds: int) -> Partition:
    """A rebalance that takes longer than it is until the next one, all day; what comes is read."""
    partition = quick(rng)
    took = int(rng.integers(15, 35))
    partition.unsettled = took, took + int(rng.integers(15, 30))
    partition.capacity *= 2.5
    return with_faults(rng, partition, seconds, kinds=("slow", "crash", "hang"))


def _long_bursts(rng: np.random.Generator, seconds: int) -> Partition:
    """Of 1 to 10 min, six times as far apart."""
    partition = with_faults(rng, quick(rng), seconds)
    partition.producer, partition.burst_for = "bursty", int(rng.integers(60, 600))
    partition.burst_every = int(max(900, partition.burst_for * rng.uniform(6, 8)))
    partition.burst_factor = float(rng.uniform(4, 7))
    return partition


def _rare_committer(rng: np.random.Generator, seconds: int) -> Partition:
    partition = quick(rng)
    partition.pause = float(rng.uniform(600, 1800))
    return with_faults(
        rng, partition, seconds, kinds=STOPS, every=4 * HOUR, first=2 * HOUR, length=(5000, 7000)
    )


def _dead_at_first(rng: np.random.Generator, seconds: int) -> Partition:
    """For some minutes, or hours, when it is first seen; its last commits are known."""
    partition = quick(rng)
    start, end = -rng.uniform(60, 2 * HOUR), rng.uniform(1500, 4000)
    partition.spans.append(Span("crash", int(start), int(end)))
    return with_faults(rng, partition, seconds, first=3 * HOUR)


def _short_crashes(rng: np.random.Generator, seconds: int) -> Partition:
    """Of 5 to 11 min, one in each two hours: no habit either."""
    return with_faults(rng, quick(rng), seconds, kinds=("crash",), first=1800, length=(300, 660))


def _long_pauses(rng: np.random.Generator, seconds: int) -> Partition:
    """Of 10 to 25 min, every 40 to 90 min."""
    partition = quick(rng)
    at = 0.6 * seconds + rng.uniform(0, 0.1) * seconds
    if at + 5400 < seconds:
        kind: Fault = "crash" if rng.random() < 0.5 else "hang"
        partition.spans.append(Span(kind, int(at), int(at + 5000)))
    length, every = rng.uniform(600, 1500), rng.uniform(2400, 5400)
    every = max(every, 2.2 * length)
    for start in np.arange(rng.uniform(300, every), seconds - 2000, every):
        begins = start + rng.uniform(-0.05, 0.05) * every
        partition.add("pause", begins, begins + length * rng.uniform(0.9, 1.1), 300)
    return partition


def _slightly_slow(rng: np.random.Generator, seconds: int) -> Partition:
    """It reads 93 to 98 % of what comes in."""
    partition = quick(rng)
    for first in np.arange(HOUR, seconds - 2 * HOUR, 3 * HOUR):
        start, share = first + rng.uniform(0, 1800), float(rng.uniform(0.93, 0.98))
        partition.spans.append(
            Span("slow", int(start), int(start + rng.uniform(3600, 5400)), share)
        )
    return partition


def _deploys(rng: np.random.Generator, seconds: int) -> Partition:
    """Nobody is there for 1 to 4 min. No fault: somebody wants it so, and it is over soon."""
    partition = with_faults(rng, quick(rng), seconds)
    for start in rng.uniform(600, seconds - 600, seconds // (2 * HOUR)):
        partition.add("deploy", start, start + rng.uniform(60, 240))
    return partition


def _late(rng: np.random.Generator, partition: Partition) -> Partition:
    """As usual for it."""
    kind = int(rng.integers(3))
    if kind == 0:  # as a stream processor that works at its own pace
        partition.delay, partition.wander = 19.5, 7.5
        partition.rate = float(rng.uniform(300, 1500))
    elif kind == 1:
        partition.window = int(rng.choice([30, 60, 120, 300]))
        partition.delay = float(rng.uniform(5, 60))
    else:
        partition.delay = float(rng.choice([30, 90, 600]))
    return partition


def _delay_topics(rng: np.random.Generator, seconds: int) -> Partition:
    """Or topics of retries, from half a minute to an hour."""
    partition = _with_rebalances(rng, quick(rng), seconds, an_hour=0.5)
    partition.delay = float(rng.choice([30, 90, 600, 3600]))
    partition.producer = (("steady", "steady", "daily", "bursty"))[int(rng.integers(4))]
    partition.capacity = float(rng.uniform(6, 12))
    return partition


def _always_late(rng: np.random.Generator, _: int) -> Partition:
    """Stream processors: 12 to 27 s behind."""
    partition = quick(rng)
    partition.rate, partition.delay, partition.wander = 1000.0, 19.5, 7.5
    return partition


def _windowed_joins(rng: np.random.Generator, seconds: int) -> Partition:
    partition = _with_rebalances(rng, quick(rng), seconds, an_hour=0.5)
    partition.window = int(rng.choice([30, 60, 120, 300, 600]))
    partition.delay = float(rng.uniform(5, 120))
    partition.capacity = 10
    return partition


def _faults_of_the_late(rng: np.random.Generator, seconds: int) -> Partition:
    """Whoever is always late breaks, or reads too slowly, all the same."""
    partition = _late(rng, quick(rng))
    return with_faults(rng, partition, seconds, kinds=("slow", "slow", *STOPS), first=1.5 * HOUR)


def _surges(rng: np.random.Generator, seconds: int) -> Partition:
    """Three times as much is written, for which there are too few consumers."""
    partition = quick(rng)
    partition.capacity = float(rng.uniform(1.3, 2.5))
    every, at = 3 * HOUR, 1.0 * HOUR
    while at + every <= seconds:
        start, took = at + rng.uniform(0, HOUR), rng.uniform(900, 2200)
        partition.spans.append(Span("surge", int(start), int(start + took), 3.0))
        at += every
    return partition


def _one_pause(rng: np.random.Generator, seconds: int) -> Partition:
    """Of 45 to 120 s; an hour later it dies."""
    partition = quick(rng)
    for first in np.arange(0.5 * HOUR, seconds - 2.5 * HOUR, 3 * HOUR):
        pauses, dies = first + rng.uniform(0, 600), first + HOUR + rng.uniform(800, 2000)
        partition.spans.append(Span("pause", int(pauses), int(pauses + rng.uniform(45, 120))))
        partition.spans.append(Span("hang", int(dies), int(dies + rng.uniform(900, 2200))))
    return partition


def _left_out(rng: np.random.Generator, seconds: int) -> Partition:
    """Checkpoints each minute to ten, one in many of which fails."""
    partition = quick(rng)
    partition.pause, partition.leaves_out = float(rng.uniform(60, 600)), 0.04
    partition.commits_always = False
    return with_faults(rng, partition, seconds, kinds=STOPS, every=4 * HOUR, length=(3000, 5000))


def _with_events(
    rng: np.random.Generator,
    partition: Partition,
    seconds: int,
    kind: Harmless,
    length: tuple[float, float],
    strength: tuple[float, float] = (0, 0),
) -> Partition:
    for start in rng.uniform(300, seconds - 600, seconds // HOUR):
        end = start + rng.uniform(*length)
        if partition.is_free(start, end):
            span = Span(kind, int(start), int(end), float(rng.uniform(*strength)))
            partition.spans.append(span)
    return partition


def _faults_and(
    kind: Harmless,
    length: tuple[float, float],
    faults: tuple[Fault, ...] = ALL_FAULTS,
    strength: tuple[float, float] = (0, 0),
) -> Draw:
    def draw(rng: np.random.Generator, seconds: int) -> Partition:
        partition = with_faults(rng, quick(rng), seconds, kinds=faults)
        return _with_events(rng, partition, seconds, kind, length, strength)

    return draw


SCENARIOS: Mapping[str, Draw] = {
    "usual": _usual,
    "daily": partial(_usual, producer="daily"),
    "bursty producer": partial(_usual, producer="bursty"),
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
    "unknown ends": _faults_and("unknown_end", (20, 400), STOPS),
    "transactions": _faults_and("transaction", (10, 60)),
    "resets": _faults_and("skip", (1, 2), ("crash", "slow")),
    "replays": _replays,
    "scale-out": _scale_out,
    "flapping members": _flapping_members,
    "repeated crashes": _repeated_crashes,
    "zombies": _faults_and("zombie", (1, 2), STOPS, (5, 300)),
    "falling ends": _falling_ends,
    "unsettled group": _unsettled,
    "rebalance loops": lambda rng, seconds: with_faults(rng, quick(rng), seconds, kinds=("loop",)),
    "long bursts": _long_bursts,
    "rare committer": _rare_committer,
    "dead at first": _dead_at_first,
    "short crashes": _short_crashes,
    "long pauses": _long_pauses,
    "long transactions": _faults_and("transaction", (90, 300)),
    "slightly slow": _slightly_slow,
    "deploys": _deploys,
    "producer stops": _faults_and("producer_stop", (300, 3600)),
    "delay topics": _delay_topics,
    "always late": _always_late,
    "windowed joins": _windowed_joins,
    "faults of the late": _faults_of_the_late,
    "surges": _surges,
    "one pause": _one_pause,
    "left-out commits": _left_out,
}
