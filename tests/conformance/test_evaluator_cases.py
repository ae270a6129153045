"""Burrow's own evaluator cases, through `warren evaluate` and through the predicates."""

import json
from typing import Any

import numpy as np
import pytest
from support.conformance import conformance_cases
from warren_cli.commands.evaluate import WindowInput, evaluate_windows, parse_window, to_windows
from warren_core.evaluation import POLICIES, Windows, predicates

CASES: list[dict[str, Any]] = conformance_cases("burrow/evaluator_cases.json")
each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def parsed(case: dict[str, Any]) -> WindowInput:
    return parse_window(1, case)


def test_there_are_sixteen() -> None:
    assert len(CASES) == 16


@each_case
def test_status(case: dict[str, Any]) -> None:
    (line,) = evaluate_windows([parsed(case)], POLICIES["burrow"])
    assert json.loads(line) == {
        "name": case["name"],
        "status": case["expected_status"],
        "complete": 1.0,
    }


def test_statuses_of_all_cases_together() -> None:
    """In one set of columns, padded to the widest window: neighbours do not matter."""
    lines = evaluate_windows(map(parsed, CASES), POLICIES["burrow"])
    assert [json.loads(line)["status"] for line in lines] == [c["expected_status"] for c in CASES]


@each_case
def test_predicates(case: dict[str, Any]) -> None:
    windows = to_windows([parsed(case)])
    assert (
        predicates_of(windows, case["now_s"] * 1000, case["allowed_lag"])
        == (case["expected_predicates"])
    )


def predicates_of(windows: Windows, now_ms: int, allowed_lag: int) -> dict[str, Any]:
    now = np.array([now_ms])
    return {
        "lag_always_above_allowed": bool(predicates.lag_always_above(windows, allowed_lag)[0]),
        "first_rewind_index": int(predicates.first_rewind(windows)[0]),
        "stopped": bool(predicates.stopped(windows, now)[0]),
        "stalled": bool(predicates.stalled(windows)[0]),
        "lag_never_decreasing": bool(predicates.lag_never_decreasing(windows)[0]),
        "recent_broker_offset_at_or_below_last_commit": bool(
            predicates.log_end_reached(windows)[0]
        ),
    }
