"""`warren evaluate` without the command: windows in, verdicts out."""

import json
from collections.abc import Iterable, Iterator

import numpy as np
from warren.contracts.status import Status
from warren.settings import PolicyName
from warren_core.evaluation import Evidence, Explanation, Policy, explain, judge_partitions

from warren_cli.filters.window_input import WindowInput, to_windows

# Slots evaluated together: enough to be fast, few enough for little memory.
SLOTS_TOGETHER = 200_000


def evaluate_windows(
    records: Iterable[WindowInput], policy: Policy, explained: PolicyName | None = None
) -> Iterator[str]:
    """One JSON line per record, in their order; `explained` is the policy's name if it says why."""
    together: list[WindowInput] = []
    width = 0
    for record in records:
        width = max(width, len(record.offsets), len(record.broker_head_offsets))
        together.append(record)
        if width * len(together) >= SLOTS_TOGETHER:
            yield from _evaluate_together(together, policy, explained)
            together, width = [], 0
    if together:
        yield from _evaluate_together(together, policy, explained)


def _evaluate_together(
    records: list[WindowInput], policy: Policy, explained: PolicyName | None
) -> Iterator[str]:
    evidence = Evidence(
        windows=to_windows(records),
        current_lag=np.array([r.current_lag for r in records], np.int64),
        now_ms=np.array([r.now_s * 1000 for r in records], np.int64),
    )
    allowed_lag = np.array([r.allowed_lag for r in records], np.int64)
    verdicts = judge_partitions(
        evidence,
        policy,
        intervals=np.array([max(r.slots, 1) for r in records], np.int64),
        allowed_lag=allowed_lag,
        minimum_complete=np.array([r.minimum_complete for r in records], np.float64),
    )
    why: dict[int, Explanation] = {}
    if explained is not None:
        everyone = np.ones(len(records), np.bool_)
        why = explain(evidence, verdicts.status, {explained: everyone}, allowed_lag)
    results = zip(records, verdicts.status.tolist(), verdicts.complete.tolist(), strict=True)
    for row, (record, status, complete) in enumerate(results):
        result = {"name": record.name, "status": Status(status).name, "complete": complete}
        if explained is not None:
            result["reason"], result["explanation"] = why.get(row, (None, None))
        yield json.dumps(result)
