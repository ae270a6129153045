"""How well each policy tells trouble from health: simulated partitions with the truth known.

Every kind of producer with every kind of committer, faults and harmless events, from one seed; the
evaluator's own judgement sees what a collector would see. Prints one JSON line. A fault counts as
detected when the partition is not OK at some time while the fault keeps it from reading; one that
is missed counts with its whole length in the times to detect. An alarm that touches no fault (nor
the recovery from one) is false. A flap is any alarm but the first of a fault.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from support.consumer_simulation import HOUR, Simulation, Tick
from warren.contracts import OffsetEvent, TopicPositions
from warren.evaluation import POLICIES, GroupRules, Rules
from warren.judgement.judge import Judged, judge
from warren.judgement.state import GroupState
from warren.settings import PolicyName

START_MS = 1_795_244_400_000


def main() -> None:
    arguments = _arguments()
    seconds = round(arguments.hours * HOUR)
    simulation = Simulation(arguments.seed, arguments.repeats, seconds)
    judges = [Follower(policy) for policy in POLICIES]
    for tick in simulation.ticks(arguments.interval):
        for each in judges:
            each.follow(tick)
    partitions = len(simulation.profile.rate)
    result: dict[str, Any] = {
        "benchmark": "detection",
        "seed": arguments.seed,
        "partitions": partitions,
        "hours": arguments.hours,
        "faults": len(judges[0].began),
        "policies": {each.policy: each.score(partitions * arguments.hours) for each in judges},
    }
    print(json.dumps(result))
    if arguments.details:
        for each in judges:
            each.tell(simulation)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hours", type=float, default=8)
    parser.add_argument("--repeats", type=int, default=4, help="partitions of each kind (16 kinds)")
    parser.add_argument("--interval", type=int, default=5, help="seconds between observations")
    parser.add_argument("--details", action="store_true", help="by kind, on standard error")
    return parser.parse_args()


@dataclass
class Follower:
    """Judges by one policy, and keeps count."""

    policy: PolicyName
    state: GroupState | None = None
    began: dict[int, int] = field(default_factory=dict)  # fault: second from which it hurts
    ended: dict[int, int] = field(default_factory=dict)
    detected: dict[int, int] = field(default_factory=dict)  # fault: seconds until it was found
    alarms: list[tuple[int, int, str]] = field(default_factory=list)  # false: partition, second
    flaps: int = 0
    _status: list[str] = field(default_factory=list)
    _before: dict[int, str] = field(default_factory=dict)  # fault: what it was when it began
    _opened: dict[int, tuple[int, str]] = field(default_factory=dict)  # partition: when and what
    _excused: set[int] = field(default_factory=set)  # partitions whose alarm has a cause

    def follow(self, tick: Tick) -> None:
        status = self._statuses(tick)
        before = self._status or ["OK"] * len(status)
        for p in np.flatnonzero(tick.fault >= 0).tolist():
            self._follow_fault(int(tick.fault[p]), tick.second, before[p], status[p])
        excused = (tick.fault >= 0) | tick.recovering
        for p, (was, now) in enumerate(zip(before, status, strict=True)):
            if was == "OK" != now:
                self.flaps += 1
                self._opened[p] = (tick.second, now)
                self._excused.discard(p)
            if now != "OK" and excused[p]:
                self._excused.add(p)
            if was != "OK" == now and p not in self._excused:
                self.alarms.append((p, *self._opened[p]))
        self._status = status

    def _follow_fault(self, fault: int, second: int, was: str, now: str) -> None:
        if fault not in self.began:
            self.began[fault], self._before[fault] = second, was
        self.ended[fault] = second
        if now == "OK":
            self._before[fault] = "OK"
        # An alarm that was on already says nothing of this fault, unless it changes.
        elif fault not in self.detected and now != self._before[fault]:
            self.detected[fault] = second - self.began[fault]
            self.flaps -= was == "OK"  # the one alarm that a fault is worth

    def _statuses(self, tick: Tick) -> list[str]:
        at = START_MS + tick.second * 1000
        partitions = len(tick.committed)
        positions = TopicPositions.model_construct(
            partition=list(range(partitions)),
            committed=tick.committed.tolist(),
            committed_at=(START_MS + tick.committed_at * 1000).tolist(),
            commits=tick.commits.tolist(),
            log_start=[0] * partitions,
            log_end=tick.log_end.tolist(),
        )
        event = OffsetEvent(
            cluster="c", group="g", source="offsets_topic", observed_at=at, position=tick.second
        ).model_copy(update={"topics": {"t": positions}})
        outcome = judge(event, self.state, GroupRules(Rules(policy=self.policy)))
        assert isinstance(outcome, Judged)
        self.state = outcome.state
        return list(outcome.lag.topics["t"].status)

    def score(self, partition_hours: float) -> dict[str, Any]:
        false = len(self.alarms)
        found, faults = len(self.detected), len(self.began)
        precision, recall = found / max(found + false, 1), found / max(faults, 1)
        times = [self.detected.get(f, self.ended[f] - self.began[f]) for f in self.began]
        return {
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "f1": round(2 * precision * recall / max(precision + recall, 1e-9), 3),
            "detect_median_s": float(np.median(times)),
            "detect_p95_s": round(float(np.percentile(times, 95)), 1),
            "flaps_per_hour_100_partitions": round(self.flaps / partition_hours * 100, 2),
            "false_alarms": false,
        }

    def tell(self, simulation: Simulation) -> None:
        """Where it was wrong or late, on standard error."""
        by_kind: dict[tuple[str, str], list[float]] = defaultdict(list)
        for fault in self.began:
            span = simulation.spans[fault]
            kind = (span.kind, simulation.profile.committer[span.partition])
            by_kind[kind].append(self.detected.get(fault, np.inf))
        print(f"# {self.policy}", file=sys.stderr)
        for pair, times in sorted(by_kind.items()):
            missed = sum(np.isinf(times))
            median = np.median(times)
            print(f"  {pair}: {len(times)} faults, {missed} missed, {median} s", file=sys.stderr)
        wrong = Counter(
            (simulation.profile.producer[p], simulation.profile.committer[p], status)
            for p, _, status in self.alarms
        )
        for name, count in wrong.most_common():
            print(f"  false {name}: {count}", file=sys.stderr)


if __name__ == "__main__":
    main()
