"""How fast partitions are judged, by policy: the rules alone, and all that one worker does.

`kernel`: the rules over windows that are there (`progress`: and one observation learnt). `worker`:
one thread takes offset events in bytes, reads and writes the table's values, judges and renders
what is published; no Kafka. `worker_bad` is the same with every partition not OK, each explained.
Prints one JSON line.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from warren.clock import SystemClock
from warren.contracts import OffsetEvent, TopicPositions, group_key
from warren.evaluation import (
    POLICIES,
    Column,
    Evidence,
    GroupRules,
    Rules,
    Sighting,
    Track,
    Windows,
    judge_partitions,
)
from warren.settings import PolicyName
from warren_evaluator.batch import BatchEvaluator
from warren_evaluator.records import SourceRecord

START_MS = 1_795_244_400_000
STEP_MS = 5_000
BATCH = 100  # events, as `evaluator.batch`


def main() -> None:
    arguments = _arguments()
    partitions, groups = arguments.partitions, arguments.groups
    policies = {}
    for policy in POLICIES:
        rates = {
            "kernel": _rate(partial(_kernel, policy, partitions), arguments.seconds),
            "kernel_10k": _rate(partial(_kernel, policy, 10_000), arguments.seconds),
        }
        for name, bad in (("worker", False), ("worker_bad", True)):
            worker = Worker(policy, groups, partitions, bad=bad)
            for _ in range(12):  # the windows are full then
                worker.step()
            rates[name] = _worker_rate(worker, arguments.seconds)
        policies[policy] = rates | {"state_bytes_per_partition": worker.state_bytes()}
    result = {
        "benchmark": "evaluate",
        "partitions_per_group": partitions,
        "groups": groups,
        "partitions_per_s": policies,
    }
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=100, help="of each group")
    parser.add_argument("--seconds", type=float, default=3, help="for each figure, at least")
    return parser.parse_args()


def _rate(work: Callable[[], int], seconds: float) -> int:
    """Partitions per second of this thread's CPU time; `work` says how many it has judged."""
    judged, started = 0, time.thread_time()
    while (elapsed := time.thread_time() - started) < seconds:
        judged += work()
    return round(judged / elapsed)


def _worker_rate(worker: Worker, seconds: float) -> int:
    judged, elapsed = 0, 0.0
    while elapsed < seconds:
        worker.prepare(10)
        started = time.thread_time()
        judged += sum(worker.step() for _ in range(10))
        elapsed += time.thread_time() - started
    return round(judged / elapsed)


_KERNELS: dict[int, tuple[Evidence, Sighting]] = {}


def _kernel(policy: PolicyName, partitions: int) -> int:
    if partitions not in _KERNELS:
        _KERNELS[partitions] = _evidence(partitions)
    evidence, sighting = _KERNELS[partitions]
    if policy == "progress":  # learning is half of its work
        assert evidence.track is not None
        evidence.track.observe(np.arange(partitions), sighting)
    judge_partitions(evidence, POLICIES[policy], intervals=10, allowed_lag=0, minimum_complete=0.0)
    return partitions


def _evidence(partitions: int) -> tuple[Evidence, Sighting]:
    """Full windows of steady consumers, some of whom are behind."""
    rng = np.random.default_rng(1)
    rows = np.arange(partitions)
    windows, track = Windows.empty(partitions, 10), Track.empty(partitions)
    for slot in range(12):
        now = START_MS + slot * STEP_MS
        committed = 100_000 + slot * rng.integers(90, 110, partitions)
        lag = rng.integers(0, 50, partitions)
        commits = np.empty((len(Column), partitions), np.int64)
        commits[Column.OFFSET] = committed
        commits[[Column.COMMITTED_AT, Column.OBSERVED_AT]] = now
        commits[Column.LAG] = lag
        commits[Column.ORDER] = slot
        windows.insert(rows, commits, 1000)
        windows.remember_log_ends(rows, committed + lag, now)
        at = np.full(partitions, now)
        sighting = Sighting(now, committed, at, np.ones(partitions, np.int64), committed + lag)
        track.observe(rows, sighting)
    return Evidence(windows, lag, now + 1000, track), sighting


class Worker:
    """What an evaluator does with events, but for Kafka."""

    def __init__(self, policy: PolicyName, groups: int, partitions: int, *, bad: bool) -> None:
        rules = GroupRules(Rules(policy=policy))
        self._evaluator = BatchEvaluator(lambda _cluster, _group: rules, "w.", SystemClock())
        self._groups = [f"group-{number}" for number in range(groups)]
        self._partitions = partitions
        self._bad = bad
        self._table: dict[bytes, bytes] = {}
        self._steps = 0
        self._prepared: list[list[SourceRecord]] = []

    def prepare(self, steps: int) -> None:
        """Makes events beforehand, so that this takes no time later."""
        self._prepared += [self._records() for _ in range(steps)]

    def _records(self) -> list[SourceRecord]:
        self._steps += 1
        return [self._record(group) for group in self._groups]

    def step(self) -> int:
        """One event of every group."""
        records = self._prepared.pop(0) if self._prepared else self._records()
        judged = 0
        for first in range(0, len(records), BATCH):
            result = self._evaluator.evaluate(records[first : first + BATCH], self._table.get)
            judged += result.counts.partitions
            for write in result.writes:
                assert write.value is not None
                self._table[write.key] = write.value
        return judged

    def state_bytes(self) -> int:
        """Of the table's values, before compression, per partition."""
        return round(sum(map(len, self._table.values())) / len(self._groups) / self._partitions)

    def _record(self, group: str) -> SourceRecord:
        count, step = self._partitions, self._steps
        now = START_MS + step * STEP_MS
        # Bad: the offset stays although there are commits, and the log grows.
        committed = 100_000 if self._bad else 100_000 + 100 * step
        positions = TopicPositions.model_construct(
            partition=list(range(count)),
            committed=[committed + p for p in range(count)],
            committed_at=[now - p for p in range(count)],
            commits=[1] * count,
            log_start=[0] * count,
            log_end=[100_000 + 100 * step + p + (p + 3 * step) % 7 for p in range(count)],
        )
        event = OffsetEvent.model_construct(
            cluster="bench",
            group=group,
            source="offsets_topic",
            observed_at=now,
            position=step,
            topics={"orders": positions},
        )
        return SourceRecord("w.offsets", 0, step, group_key("bench", group), event.to_bytes())


if __name__ == "__main__":
    main()
