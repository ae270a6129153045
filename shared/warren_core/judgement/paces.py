"""Causes of a group that moves and is behind: how fast it consumes, and what is produced."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from warren.contracts.cause import CauseEvidence, CauseName, Finding
from warren.contracts.status import Status
from warren.words import duration, grouped, rate, records, utc

from warren_core.evaluation import UNKNOWN, Int64
from warren_core.evaluation.track import Figure
from warren_core.judgement.facts import Facts

# Rates that differ by less are the same, as far as a window can tell.
SAME = 1.1
BURST = 2.0
BEFORE = 2  # stretches between log ends that tell what was usual
MOST_ENDS = 3 * BEFORE  # as many must be remembered: else the oldest are not of before
LATE_S = 30  # of production: with less behind, it is no trouble of pace


class Pace(NamedTuple):
    """Records per second, of the partitions that fall behind. `before`: what was produced as far
    ago as is remembered; negative where nobody knows.
    """

    consumed: float
    produced: float
    before: float
    lag: int
    partitions: int


def falls_behind(facts: Facts) -> Finding | None:
    """A root: more is produced than consumed."""
    pace = _pace(facts)
    if pace is None or pace.produced <= pace.consumed * SAME:
        return None
    return _burst(facts, pace) or _too_slow(facts, pace)


def stays_behind(facts: Facts) -> Finding | None:
    """A consequence: of what is over, or of another root, a backlog is left."""
    pace = _pace(facts)
    if pace is None or pace.produced > pace.consumed * SAME or pace.lag <= LATE_S * pace.produced:
        return None
    is_faster = pace.consumed > pace.produced * SAME
    return _catching_up(facts, pace) if is_faster else _late(facts, pace)


def _pace(facts: Facts) -> Pace | None:
    """Only where all that is bad is behind while it moves."""
    pace = _known_pace(facts) if facts.worst is Status.WARN else None
    return None if pace is None or pace.consumed <= 0 else pace


def _known_pace(facts: Facts) -> Pace | None:
    rows = facts.bad
    windows = facts.windows.take(np.array(rows, np.int64))
    consumed, produced = facts.consumed_per_s(windows), facts.produced_per_s(windows, rows)
    known = (consumed >= 0) & (produced >= 0)
    if not known.all():
        return _measured_pace(facts)
    return Pace(
        float(consumed.sum()),
        float(produced.sum()),
        _produced_before(facts, rows, windows.log_ends),
        int(np.maximum(facts.lag[rows], 0).sum()),
        len(rows),
    )


def _measured_pace(facts: Facts) -> Pace | None:
    """Of the last minute, by freshness: where all that the group has falls behind."""
    late = facts.lateness
    if late is None or len(facts.bad) < len(facts.layout):
        return None
    if late.consume_rate is None or late.produce_rate is None:
        return None
    lag = int(np.maximum(facts.lag, 0).sum())
    return Pace(late.consume_rate, late.produce_rate, -1.0, lag, len(facts.bad))


def _produced_before(facts: Facts, rows: list[int], log_ends: Int64) -> float:
    """From the oldest log ends that are remembered: what was usual until a minute and a half ago,
    by default. Where that was a pause, what is usual over half an hour, where it is known.
    """
    if log_ends.shape[1] < MOST_ENDS or (log_ends[:, 0] == UNKNOWN).any():
        return -1.0
    moved = log_ends[:, BEFORE] - log_ends[:, 0]
    lately = float((moved * 1000.0 / (BEFORE * facts.log_ends_apart_ms)).sum())
    if facts.track is None:
        return lately
    usual = np.maximum(facts.track.figures[Figure.USUALLY_PRODUCED, rows], 0)
    return max(lately, float(usual.sum()))


def _burst(facts: Facts, pace: Pace) -> Finding | None:
    """More than before, when the group would have kept up with that."""
    spare = pace.consumed - pace.before
    if pace.before < 0 or pace.produced < BURST * pace.before or pace.before * SAME > pace.consumed:
        return None
    times = f", {_times(pace.produced / pace.before)} as much as before" if pace.before else ""
    at = facts.now_ms + round(pace.lag * 1000 / spare)
    return _finding(
        "producer_burst",
        f"{rate(pace.produced)} are produced{times}, and {rate(pace.consumed)} consumed; caught "
        f"up at {utc(at)} if it ends now",
        "nothing, if it is to end; else more consumers",
        pace,
        produced_before_per_s=pace.before,
        caught_up_at=at,
    )


def _too_slow(facts: Facts, pace: Pace) -> Finding:
    members = 0 if facts.membership is None else len(facts.membership.members)
    more = "add consumers, or let each record take less time"
    if members and members >= len(facts.layout):
        more = (
            f"there are as many members as partitions ({grouped(len(facts.layout))}): let each "
            "record take less time, or add partitions and consumers"
        )
    return _finding(
        "too_slow",
        f"consumes {rate(pace.consumed)} of {rate(pace.produced)} produced: needs "
        f"{_times(pace.produced / pace.consumed)} as much",
        more,
        pace,
        members=members or None,
    )


def _late(facts: Facts, pace: Pace) -> Finding:
    late = f", {duration(facts.late_ms)} late" if facts.late_ms else ""
    return _finding(
        "late",
        f"consumes as much as is produced, {rate(pace.produced)}, and does not catch up the "
        f"{records(pace.lag)} that it is behind{late}",
        "add consumers until it has caught up",
        pace,
        freshness_ms=facts.late_ms,
    )


def _catching_up(facts: Facts, pace: Pace) -> Finding:
    late = f", {duration(facts.late_ms)} late" if facts.late_ms else ""
    at = facts.now_ms + round(pace.lag * 1000 / (pace.consumed - pace.produced))
    return _finding(
        "catching_up",
        f"{records(pace.lag)} behind{late}: consumes {rate(pace.consumed)}, of "
        f"{rate(pace.produced)} produced, and has caught up at {utc(at)}",
        "nothing, if that is soon enough; else add consumers for a while",
        pace,
        caught_up_at=at,
        freshness_ms=facts.late_ms,
    )


def _finding(name: CauseName, sentence: str, action: str, pace: Pace, **more: object) -> Finding:
    evidence = CauseEvidence.model_construct(
        None,
        partitions=pace.partitions,
        consumed_per_s=round(pace.consumed, 3),
        produced_per_s=round(pace.produced, 3),
        **more,
    )
    return Finding(name=name, sentence=sentence, action=action, evidence=evidence)


def _times(factor: float) -> str:
    return f"{factor:.1f} times" if factor < 10 else f"{grouped(round(factor))} times"
