"""How fast partitions are judged, by policy: the rules alone, and all that one worker does.

`kernel`: the rules over windows that are there (`progress`: and one observation learnt). `worker`:
one thread takes offset events in bytes, reads and writes the table's values, judges and renders
what is published; no Kafka. `worker_bad` is the same with every partition not OK, each explained,
and a cause. `all` and `all_bad`: with a freshness event for every second offset event, as by
default, and two objectives beside the one that is always there. With `--workers`: so many processes
at once do `all`, each with groups of its own; `together` is what they judge, by the CPU time of
each, `ratio` that beside one alone before and after. Prints one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import numpy as np
from warren.clock import SystemClock
from warren.contracts import (
    FreshnessEvent,
    OffsetEvent,
    TopicFreshness,
    TopicPositions,
    group_key,
)
from warren.settings import ObjectiveSettings, PolicyName
from warren_core.evaluation import (
    POLICIES,
    Column,
    Evidence,
    GroupRules,
    Rules,
    Sighting,
    Track,
    Windows,
    judge_partitions,
    presence_of,
    see,
)
from warren_core.objectives.limits import ObjectiveBook
from warren_evaluator.batch import BatchEvaluator
from warren_evaluator.latenesses import Latenesses
from warren_evaluator.memory import search_seldom
from warren_evaluator.records import Publication, SourceRecord

START_MS = 1_795_244_400_000
STEP_MS = 5_000
OBJECTIVES = [
    ObjectiveSettings.model_validate({"name": name, **asked})
    for name, asked in (("fresh", {"max_freshness": 300}), ("near", {"max_lag": 10_000}))
]
BATCH = 100  # events, as the evaluator takes them


def main() -> None:
    arguments = _arguments()
    search_seldom()  # as a worker does
    partitions, groups = arguments.partitions, arguments.groups
    policies: dict[str, dict[str, float]] = {}
    for policy in [arguments.policy] if arguments.policy else POLICIES:
        rates: dict[str, float] = {
            "kernel": _rate(partial(_kernel, policy, partitions), arguments.seconds),
            "kernel_10k": _rate(partial(_kernel, policy, 10_000), arguments.seconds),
        }
        for name, bad, measured in (
            ("worker", False, False),
            ("worker_bad", True, False),
            ("all", False, True),
            ("all_bad", True, True),
        ):
            worker = Worker(policy, groups, partitions, bad=bad, measured=measured)
            for _ in range(12):  # the windows are full then
                worker.step()
            rates[name] = _worker_rate(worker, arguments.seconds)
        policies[policy] = rates | {"state_bytes_per_partition": worker.state_bytes()}
    if arguments.workers > 1:
        policies["workers"] = _side_by_side(arguments)
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
    parser.add_argument("--policy", choices=list(POLICIES), help="only this one")
    parser.add_argument("--workers", type=int, default=1, help="side by side, and one alone")
    parser.add_argument("--seconds", type=float, default=3, help="for each figure, at least")
    return parser.parse_args()


def _rate(work: Callable[[], int], seconds: float) -> int:
    """Partitions per second of this thread's CPU time; `work` says how many it has judged."""
    judged, started = 0, time.thread_time()
    while (elapsed := time.thread_time() - started) < seconds:
        judged += work()
    return round(judged / elapsed)


def _side_by_side(arguments: argparse.Namespace) -> dict[str, float]:
    work = partial(_all_rate, arguments.policy or "burrow", arguments)
    with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:

        def rate(workers: int) -> int:
            return sum(pool.map(work, range(workers), chunksize=1))

        before, together, after = rate(1), rate(arguments.workers), rate(1)
    return {"together": together, "ratio": round(2 * together / (before + after), 2)}


def _all_rate(policy: PolicyName, arguments: argparse.Namespace, _number: int) -> int:
    search_seldom()
    worker = Worker(policy, arguments.groups, arguments.partitions, bad=False, measured=True)
    for _ in range(12):
        worker.step()
    return _worker_rate(worker, arguments.seconds)


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
        see(evidence.track, np.arange(partitions), sighting)
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
        ones = np.ones(partitions, np.int64)
        sighting = Sighting(
            now, committed, at, ones, committed + lag, presence=presence_of("Stable")
        )
        see(track, rows, sighting)
    return Evidence(windows, lag, now + 1000, track), sighting


class Worker:
    """What an evaluator does with events, but for Kafka."""

    def __init__(
        self, policy: PolicyName, groups: int, partitions: int, *, bad: bool, measured: bool
    ) -> None:
        rules = GroupRules(Rules(policy=policy))
        self.windows: dict[bytes, bytes] = {}
        self._latenesses = Latenesses(
            self,
            ObjectiveBook(OBJECTIVES),
            "w.lag-status",
            _published,
            SystemClock(),
            read_windows=self.read_windows,
        )
        self._evaluator = BatchEvaluator(
            lambda _cluster, _group: rules,
            "w.",
            SystemClock(),
            lateness_of=self._latenesses.of,
        )
        self._measured = measured
        self.lateness: dict[bytes, bytes] = {}
        rng = np.random.default_rng(1)
        self._begins = {  # [partition] of each log, so that no two groups look alike
            f"group-{number}": rng.integers(0, 10**9, partitions).tolist()
            for number in range(groups)
        }
        self._partitions = partitions
        self._bad = bad
        self._steps = 0
        self._prepared: list[list[SourceRecord]] = []

    def read(self, key: bytes) -> bytes | None:
        """The table of lateness."""
        return self.lateness.get(key)

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]:
        del partition
        assert value is not None
        self.lateness[key] = value
        return _done()

    def read_windows(self, key: bytes) -> bytes | None:
        return self.windows.get(key)

    def prepare(self, steps: int) -> None:
        """Makes events beforehand, so that this takes no time later."""
        self._prepared += [self._records() for _ in range(steps)]

    def _records(self) -> list[SourceRecord]:
        self._steps += 1
        records = [self._record(group) for group in self._begins]
        if self._measured and self._steps % 2 == 0:
            records += [self._freshness(group) for group in self._begins]
        return records

    def step(self) -> int:
        """One event of every group."""
        records = self._prepared.pop(0) if self._prepared else self._records()
        judged = 0
        measured = [record for record in records if record.topic == "w.freshness"]
        for first in range(0, len(measured), BATCH):
            asyncio.run(self._latenesses.run(measured[first : first + BATCH]))
        records = [record for record in records if record.topic != "w.freshness"]
        for first in range(0, len(records), BATCH):
            batch = records[first : first + BATCH]
            result = self._evaluator.evaluate(batch, self.windows.get)
            judged += result.counts.partitions
            for write in result.writes:
                assert write.value is not None
                self.windows[write.key] = write.value
        return judged

    def state_bytes(self) -> int:
        """Of the table's values, before compression, per partition."""
        return round(sum(map(len, self.windows.values())) / len(self._begins) / self._partitions)

    def _record(self, group: str) -> SourceRecord:
        count, step, begins = self._partitions, self._steps, self._begins[group]
        now = START_MS + step * STEP_MS
        # Bad: the offset stays although there are commits, and the log grows.
        committed = 100_000 if self._bad else 100_000 + 100 * step
        positions = TopicPositions.model_construct(
            partition=list(range(count)),
            committed=[committed + begin for begin in begins],
            committed_at=[now - begin % 997 for begin in begins],
            commits=[1] * count,
            log_start=[0] * count,
            log_end=[
                100_000 + 100 * step + begin + (p + 3 * step) % 7 for p, begin in enumerate(begins)
            ],
        )
        event = OffsetEvent.model_construct(
            cluster="bench",
            group=group,
            source="offsets_topic",
            observed_at=now,
            position=step,
            topics={"orders": positions},
            group_state="Stable",
        )
        return SourceRecord("w.offsets", 0, step, group_key("bench", group), event.to_bytes())

    def _freshness(self, group: str) -> SourceRecord:
        count, step = self._partitions, self._steps
        now = START_MS + step * STEP_MS
        nothing: list[None] = [None] * count
        # Well: nothing is left of every other partition, a few seconds of the rest.
        late = [now - START_MS if self._bad else 3000 * (p % 2) for p in range(count)]
        topic = TopicFreshness.model_construct(
            partition=list(range(count)),
            committed=[100_000 + begin for begin in self._begins[group]],
            freshness_ms=late,
            reason=["exact" if ms else "caught_up" for ms in late],
            bound_ms=[0] * count,
            lost_records=[0] * count,
            time_to_loss_ms=[604_800_000 - ms if ms else None for ms in late],
            oldest_at=[now - ms if ms else None for ms in late],
            commit_lag_ms=nothing,
            append_lag_ms=nothing,
            late_since=[now - ms if ms else None for ms in late],
            time_to_loss_reason=["retention_ms" if ms else None for ms in late],
            produce_rate=[20.0] * count,
            consume_rate=[20.0] * count,
            time_to_catch_up_ms=nothing,
            retention_left=[0.999 if ms else None for ms in late],
            commit_convention=None,
        )
        event = FreshnessEvent.model_construct(
            cluster="bench",
            group=group,
            measured_at=now,
            observed_at=now,
            freshness_ms=max(late),
            lost_records=0,
            time_to_loss_ms=604_800_000 - max(late),
            topics={"orders": topic},
        )
        return SourceRecord("w.freshness", 0, step, group_key("bench", group), event.to_bytes())


async def _published(_item: Publication) -> Awaitable[Any]:
    return _done()


def _done() -> Awaitable[Any]:
    done = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


if __name__ == "__main__":
    main()
