"""Typical cases, to be drawn: one partition each, and what happens to it."""

from __future__ import annotations

from dataclasses import dataclass

from support.detection.partitions import HOUR, Partition, Span


@dataclass(frozen=True, slots=True)
class Case:
    """`shown_from`: what was before taught what is usual, seconds."""

    name: str
    partition: Partition
    seconds: int
    shown_from: int
    seed: int = 1


def _quick(*spans: Span, pause: float = 5.0, capacity: float = 3.0) -> Partition:
    return Partition("typical", rate=20.0, pause=pause, capacity=capacity, spans=list(spans))


def _pauses(until: int) -> list[Span]:
    """Five minutes in each half hour."""
    return [Span("pause", start, start + 300) for start in range(900, until, 1800)]


_BATCH = Partition("typical", rate=20.0, pause=3600.0, capacity=20.0, committer="batch")
_BATCH.spans.append(Span("crash", 6 * HOUR + 300, 8 * HOUR))

CASES = (
    Case(
        "crash", _quick(Span("crash", 3 * HOUR, 3 * HOUR + 1500)), 3 * HOUR + 3000, 3 * HOUR - 600
    ),
    Case(
        "crash-of-a-slow-committer",
        _quick(Span("crash", 3 * HOUR, 3 * HOUR + 1500), pause=240.0),
        3 * HOUR + 3000,
        3 * HOUR - 600,
    ),
    Case(
        "poison-record",
        _quick(Span("poison", 3 * HOUR, 3 * HOUR + 1500)),
        3 * HOUR + 3000,
        3 * HOUR - 600,
    ),
    Case(
        "slow-consumer",
        _quick(Span("slow", 3 * HOUR, 3 * HOUR + 1800, 0.7)),
        3 * HOUR + 3000,
        3 * HOUR - 600,
    ),
    Case(
        "rebalances",
        _quick(
            *(Span("rebalance", 3 * HOUR + at, 3 * HOUR + at + 150) for at in (300, 1500, 2700))
        ),
        3 * HOUR + 3600,
        3 * HOUR,
    ),
    Case(
        "pauses-that-come-again",
        _quick(*_pauses(5 * HOUR), Span("hang", 5 * HOUR + 1200, 6 * HOUR)),
        6 * HOUR,
        0,
    ),
    Case(
        "constant-backlog",
        _quick(Span("backlog", 3 * HOUR, 4 * HOUR + 1800, 1200.0)),
        4 * HOUR + 3000,
        3 * HOUR - 600,
    ),
    Case(
        "replay", _quick(Span("rewind", 3 * HOUR, 3 * HOUR + 10, 3600.0)), 4 * HOUR, 3 * HOUR - 600
    ),
    Case("hourly-batch", _BATCH, 9 * HOUR, 0),
)
