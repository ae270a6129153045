"""Explanations: what each verdict says of itself, in words and for machines."""

from collections.abc import Sequence

import numpy as np
import pytest
from warren.settings import PolicyName
from warren_core.evaluation import POLICIES, Evidence, Explanation, Windows, explain

S = 1000


def explained(
    policy: PolicyName,
    commits: Sequence[tuple[int, int, int]],
    lag: int,
    now_s: int,
) -> Explanation | None:
    """`commits` are (second, offset, lag), each observed when it came."""
    windows = Windows.empty(1, max(10, len(commits)))
    for second, offset, then in commits:
        commit = np.array([[offset], [second * S], [second * S], [then], [second * S]])
        windows.insert(np.array([0]), commit, 0)
    evidence = Evidence(windows, np.array([lag]), now_s * S)
    status = POLICIES[policy](evidence, 0)
    return explain(evidence, status, {policy: np.ones(1, np.bool_)}, 0).get(0)


STEADY = [(5 * i, 100 * i, 0) for i in range(10)]  # until second 45, offset 900
STALLED = [(5 * i, 900, 10 + i) for i in range(10)]
SLOW = [(5 * i, 100 * i, 20 * i + 20) for i in range(10)]
BACK = [(0, 12_000, 5), (10, 7_000, 5_100), (20, 7_100, 5_100)]
WAVE = [3, 1, 2, 3, 1, 2, 3, 1, 2, 1]
HUNG = [(5 * i, 100 * i, WAVE[i]) for i in range(10)]


@pytest.mark.parametrize(
    ("policy", "commits", "lag", "now_s", "reason", "sentence"),
    [
        pytest.param(
            "burrow", HUNG, 2101, 297, "no_commit",
            "no commit for 4m 12s, usual pause 5s; "
            "2,101 records behind, log still growing by 8.3/s",
            id="stopped, the log grows",
        ),
        pytest.param(
            "burrow", HUNG, 1, 297, "no_commit",
            "no commit for 4m 12s, usual pause 5s; 1 record behind, log at rest",
            id="stopped, the log is at rest",
        ),
        pytest.param(
            "burrow", [(0, 5, 3)], 3, 60, "no_commit",
            "no commit for 1m, the only one known; 3 records behind, log at rest",
            id="only one commit",
        ),
        pytest.param(
            "burrow", STALLED, 19, 45, "no_progress",
            "commits go on, but at offset 900 for 45s; "
            "19 records behind, log still growing by 12/min",
            id="stalled",
        ),
        pytest.param(
            "burrow", BACK, 5200, 22, "rewind",
            "committed offset went back from 12,000 12s ago and is at 7,100; "
            "5,200 records behind, log still growing by 13/s",
            id="rewound",
        ),
        pytest.param(
            "burrow", SLOW, 200, 45, "lag_not_shrinking",
            "lag has not shrunk over 10 commits in 45s: from 20 to 200; "
            "200 records behind, log still growing by 24/s",
            id="slow",
        ),
    ],
)  # fmt: skip
def test_a_verdict_says_why(
    policy: PolicyName,
    commits: list[tuple[int, int, int]],
    lag: int,
    now_s: int,
    reason: str,
    sentence: str,
) -> None:
    assert explained(policy, commits, lag, now_s) == (reason, sentence)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_a_partition_that_is_ok_needs_no_reason(policy: PolicyName) -> None:
    assert explained(policy, STEADY, 0, 45) is None


def test_a_lag_whose_past_is_not_known_says_nothing_of_the_log() -> None:
    found = explained("burrow", [(5 * i, 100 * i, -1) for i in range(10)], 7, 300)
    assert found is not None
    assert found.sentence.endswith("; 7 records behind")
