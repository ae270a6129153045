"""Scores: what a rule said against the truth.

An alarm is a partition's time without OK; it is true when it begins while a fault hurts, or until
the backlog of one is gone. A fault is found when an alarm begins in it, or changes its status in
it, and lasts: half a minute, or to the fault's end. One that is missed counts with its whole length
in the delay. Range-based precision and recall follow Tatbul et al., NeurIPS 2018: half for being
met at all, half for the share that is covered, divided by the number of pieces.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from support.detection.simulation import UNKNOWN, Bools, Ints, Recording
from warren.contracts import Status

LASTS_S = 30
DAY_H = 24


class Range(NamedTuple):
    """Of one partition: ticks from start to before end."""

    partition: int
    start: int
    end: int


@dataclass(slots=True)
class Tally:
    """Of some partitions; adds up."""

    partition_hours: float = 0.0
    faults: int = 0
    found: int = 0
    alarms: int = 0
    false: int = 0
    false_later: int = 0  # not on the first day
    hours_later: float = 0.0
    fault_ticks: int = 0
    told_ticks: int = 0
    delays: list[float] = field(default_factory=list)
    covered_faults: float = 0.0
    covered_alarms: float = 0.0

    def add(self, other: Tally) -> None:
        for name in Tally.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def figures(self) -> dict[str, float]:
        true = self.alarms - self.false
        precision = true / self.alarms if self.alarms else 1.0
        # Several alarms of one fault are flaps, not so many successes.
        precision = min(precision, self.found / max(self.found + self.false, 1))
        recall = self.found / self.faults if self.faults else 1.0
        harmonic = 2 * precision * recall / max(precision + recall, 1e-9)
        first = self.false - self.false_later
        flaps = max(self.alarms - self.found, 0)
        return {
            "false_per_day": round(self.false * DAY_H / self.partition_hours, 2),
            "true_share": round(true / self.alarms, 2) if self.alarms else 1.0,
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "f1": round(harmonic, 3),
            "delay_median_s": float(np.median(self.delays)) if self.delays else 0.0,
            "told": round(self.told_ticks / max(self.fault_ticks, 1), 3),
            "flaps_per_100_h": round(100 * flaps / self.partition_hours, 1),
            "range_precision": round(self.covered_alarms / max(self.alarms, 1), 3),
            "range_recall": round(self.covered_faults / max(self.faults, 1), 3),
            "faults": self.faults,
            "faults_per_hour": round(self.faults / self.partition_hours, 3),
            "false": self.false,
            **_per_day("false_per_day_first", first, self.partition_hours - self.hours_later),
            **_per_day("false_per_day_later", self.false_later, self.hours_later),
        }


def _per_day(name: str, alarms: int, hours: float) -> dict[str, float]:
    """Of each partition; nothing where nobody looked."""
    return {name: round(alarms * DAY_H / hours, 3)} if hours else {}


def score(recording: Recording, said: Ints, scenarios: list[str]) -> dict[str, Tally]:
    """By scenario."""
    seconds = recording.second
    interval = int(seconds[1] - seconds[0])
    tallies: dict[str, Tally] = defaultdict(Tally)
    for p, scenario in enumerate(scenarios):
        faults = _faults(recording.fault[:, p], p)
        excused = (recording.fault[:, p] >= 0) | recording.excused[:, p]
        hours = len(seconds) * interval / 3600
        tallies[scenario].add(_tally(said[:, p], faults, excused, interval, hours))
    return dict(tallies)


def ranges(flags: Bools, partition: int) -> list[Range]:
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(np.int8))).tolist()
    return [
        Range(partition, start, end) for start, end in zip(edges[::2], edges[1::2], strict=True)
    ]


def _faults(number: Ints, partition: int) -> list[Range]:
    """One for each, from when it first hurts to when it last does."""
    found = []
    for fault in np.unique(number[number != UNKNOWN]).tolist():
        ticks = np.flatnonzero(number == fault)
        found.append(Range(partition, int(ticks[0]), int(ticks[-1]) + 1))
    return found


def _tally(said: Ints, faults: list[Range], excused: Bools, interval: int, hours: float) -> Tally:
    bad = said != Status.OK
    alarms = ranges(bad, 0)
    later = max(hours - DAY_H, 0.0)
    tally = Tally(partition_hours=hours, hours_later=later, faults=len(faults), alarms=len(alarms))
    for fault in faults:
        part = slice(fault.start, fault.end)
        delay = _delay(said, fault, LASTS_S // interval)
        tally.found += delay is not None
        ticks = fault.end - fault.start
        tally.delays.append((ticks if delay is None else delay) * interval)
        tally.fault_ticks += ticks
        tally.told_ticks += int(bad[part].sum())
        tally.covered_faults += _covered(bad[part])
    for alarm in alarms:
        is_false = not excused[alarm.start]
        tally.false += is_false
        tally.false_later += is_false and alarm.start * interval >= DAY_H * 3600
        tally.covered_alarms += _covered(excused[alarm.start : alarm.end])
    return tally


def _delay(said: Ints, fault: Range, lasts: int) -> int | None:
    """Ticks until an alarm of its own that lasts."""
    before = said[fault.start - 1] if fault.start else Status.OK
    part = said[fault.start : fault.end]
    fresh = np.flatnonzero((part != Status.OK) & (np.r_[before, part[:-1]] != part))
    for start in fresh.tolist():
        rest = part[start : start + lasts] != Status.OK
        if rest.all():
            return int(start)
    return None


def _covered(flags: Bools) -> float:
    """Of one range: met at all, and how much of it in how many pieces."""
    pieces = len(ranges(flags, 0))
    return 0.5 + 0.5 * float(flags.mean()) / pieces if pieces else 0.0
