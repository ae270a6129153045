"""Burrow's group cases, through the evaluator: its commits as offset events, judged in order."""

from typing import Any

import pytest
from support.conformance import conformance_cases
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import LagEvent
from warren_core.evaluation import Rules

FILE: dict[str, Any] = conformance_cases("burrow/evaluator_group_cases.json")
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in FILE["cases"]}
LOG_END = 4321
RULES = Rules(intervals=10, min_distance_ms=0)
WITH_COMMITS = [name for name, case in CASES.items() if "commits" in case]


def evaluated(case: dict[str, Any], *, then_removed: str = "") -> LagEvent:
    """The judgement a moment after all commits; log ends were seen once, as in the fixture."""
    group = Judge(RULES)
    (name, commits) = next(iter(case["commits"].items()))
    topic, partition = name.split("/")
    for commit in commits:
        at = NOW + commit["rel_ms"]
        made = {int(partition): At(commit["offset"], at, log_end=LOG_END)}
        group.judged(offset_event(at, {topic: made}, position=commit["order"]))
    removed = {then_removed: [int(partition)]} if then_removed else {}
    last = offset_event(NOW, {}, position=commits[-1]["order"], removed=removed)
    return group.judged(last).lag


def test_there_are_five() -> None:
    assert len(CASES) == 5


@pytest.mark.parametrize("name", WITH_COMMITS)
def test_group(name: str) -> None:
    case = CASES[name]
    lag = evaluated(case, then_removed=case.get("then_delete_topic", ""))
    expected = case["expected"]
    assert lag.status == expected["status"]
    assert lag.complete == expected["complete"]
    listed = [
        (topic, partition, status, complete)
        for topic, columns in lag.topics.items()
        for partition, status, complete in zip(
            columns.partition, columns.status, columns.complete, strict=True
        )
        if case["show_all"] or status != "OK"
    ]
    if "partition_count" in expected:
        assert sum(len(t.partition) for t in lag.topics.values()) == expected["partition_count"]
        assert lag.total_lag == expected["totallag"]
    if "partitions_len" in expected:
        assert len(listed) == expected["partitions_len"]
    if "partitions" in expected:
        assert listed == [
            (p["topic"], p["partition"], p["status"], p["complete"]) for p in expected["partitions"]
        ]
    if "maxlag" in expected:
        columns = lag.topics["testtopic"]
        assert columns.window_start.offset == [expected["maxlag"]["start_offset"]]
        assert columns.window_end.offset == [expected["maxlag"]["end_offset"]]


def test_a_group_that_was_never_seen_has_no_evaluation() -> None:
    """`group_not_found` is answered by whoever looks for the group: nothing is published of it."""
    assert CASES["group_not_found"]["expected"]["status"] == "NOTFOUND"
    assert Judge(RULES).state is None
