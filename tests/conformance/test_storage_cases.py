"""Burrow's own ring cases, on the windows that the evaluator uses."""

from typing import Any

import numpy as np
import pytest
from support.conformance import conformance_cases
from warren_core.evaluation import UNKNOWN, Column, Windows

CASES: list[dict[str, Any]] = conformance_cases("burrow/storage_cases.json")["ring_cases"]
OBSERVED_AT = 123_456


def test_there_are_nine() -> None:
    assert len(CASES) == 9


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_ring(case: dict[str, Any]) -> None:
    # The case's partition is the middle one of three: the others must stay as they are.
    windows = Windows.empty(3, case["intervals"])
    for commit in case["commits_in_arrival_order"]:
        lag = max(case["broker_head_offset"] - commit["offset"], 0)
        column = [commit["offset"], commit["timestamp_ms"], OBSERVED_AT, lag, commit["order"]]
        windows.insert(np.array([1]), np.array([column]).T, case["min_distance_s"] * 1000)
    assert windows.filled.tolist() == [0, len(case["expected_ring_oldest_first"]), 0]
    slots = windows.columns[:, 1, windows.intervals - int(windows.filled[1]) :]
    assert [as_case(slot) for slot in slots.T.tolist()] == case["expected_ring_oldest_first"]


def as_case(slot: list[int]) -> dict[str, int | None]:
    lag = slot[Column.LAG]
    return {
        "offset": slot[Column.OFFSET],
        "order": slot[Column.ORDER],
        "timestamp_ms": slot[Column.COMMITTED_AT],
        "lag": None if lag == UNKNOWN else lag,
    }
