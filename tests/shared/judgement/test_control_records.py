"""A group that has read all records of a log that ends with a transaction is well."""

import pytest
from support.freshness_events import freshness_event, late
from support.offset_events import NOW, At, Judge, offset_event
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.lateness import Lateness, lateness_of

S = 1000


def resting(lateness: Lateness | None, committed: int = 110) -> list[str]:
    """Statuses of a group that works for a minute, and then rests one before the log end."""
    group = Judge(knowledge=Knowledge(lateness=lambda: lateness))
    statuses = []
    for at in range(0, 180 * S, 5 * S):
        worked = min(at, 60 * S) // (6 * S)
        offset = committed - 10 + worked
        position = At(offset, NOW + min(at, 60 * S), lag=1, commits=int(at <= 60 * S))
        statuses.append(group.judged(offset_event(NOW + at, {"orders": {0: position}})).lag.status)
    return statuses


def left(reason: str, committed: int = 110) -> Lateness:
    ms = 0 if reason == "control_only" else 90_000
    return lateness_of(freshness_event(100 * S, late(ms, reason=reason, committed=committed)))


def test_only_the_end_of_a_transaction_is_left() -> None:
    assert resting(left("control_only"))[-1] == "OK"


@pytest.mark.parametrize(
    "lateness", [None, left("exact"), left("control_only", 109)], ids=["unknown", "late", "older"]
)
def test_a_record_may_be_left(lateness: Lateness | None) -> None:
    assert resting(lateness)[-1] == "ERR"


def test_what_was_measured_long_ago_is_not_believed() -> None:
    old = lateness_of(freshness_event(-300 * S, late(0, reason="control_only", committed=110)))
    assert resting(old)[-1] == "ERR"
