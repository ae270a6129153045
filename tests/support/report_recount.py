"""What `warren report` shows, recounted in plain Python as its documentation defines it."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

STATUSES = ("OK", "WARN", "ERR", "NOTFOUND")


class LagRecord(NamedTuple):
    """A record of warren.lag; the value is None for a tombstone."""

    key: bytes
    value: bytes | None
    timestamp_ms: int


class _Evaluation(NamedTuple):
    at: int
    position: int
    status: str | None
    lag: int


def recount(
    records: Iterable[LagRecord], start: int, end: int, max_gap: int
) -> dict[tuple[str, str], dict[str, Any]]:
    """By cluster and group, in the words of `warren report --json`; times in ms."""
    groups: dict[tuple[str, str], set[_Evaluation]] = defaultdict(set)
    for record in records:
        cluster, _, group = record.key.decode().partition("|")
        if record.value is None:
            evaluation = _Evaluation(record.timestamp_ms, -2, None, 0)
        else:
            event = json.loads(record.value)
            evaluation = _Evaluation(
                event["evaluated_at"], event["position"], event["status"], event["total_lag"]
            )
        if evaluation.at < end:
            groups[cluster, group].add(evaluation)
    counted = {
        name: _group(*name, sorted(known, key=lambda e: e[:2]), start, end, max_gap)
        for name, known in groups.items()
    }
    return {name: found for name, found in counted.items() if found["evaluations"]}


def _group(
    cluster: str, group: str, known: list[_Evaluation], start: int, end: int, max_gap: int
) -> dict[str, Any]:
    held, status = dict.fromkeys(STATUSES, 0), None
    for number, evaluation in enumerate(known):
        next_at = known[number + 1].at if number + 1 < len(known) else end
        until = min(next_at, evaluation.at + max_gap, end)
        if evaluation.status is not None:
            held[evaluation.status] += max(until - max(evaluation.at, start), 0)
        status = evaluation.status if until == end else None
    lags = sorted(e.lag for e in known if e.at >= start and e.status is not None)
    return {
        "cluster": cluster,
        "group": group,
        "status": status,
        "held_ms": held,
        "unknown_ms": end - start - sum(held.values()),
        "evaluations": len(lags),
        "lag_p50": _nearest_rank(lags, 0.5),
        "lag_p95": _nearest_rank(lags, 0.95),
        "lag_max": max(lags, default=0),
    }


def _nearest_rank(ordered: list[int], share: float) -> int:
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else 0
