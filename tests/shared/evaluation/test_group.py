"""The group's verdict from its partitions'."""

import numpy as np
import pytest
from warren.contracts.status import Status
from warren_core.evaluation import PartitionVerdicts, Windows, is_expired, judge_group


def verdicts(*statuses: Status, complete: float = 1.0) -> PartitionVerdicts:
    count = len(statuses)
    return PartitionVerdicts(np.array(statuses, np.uint8), np.full(count, complete))


@pytest.mark.parametrize(
    ("worst", "group"),
    [
        (Status.OK, Status.OK),
        (Status.WARN, Status.WARN),
        (Status.STOP, Status.ERR),
        (Status.STALL, Status.ERR),
        (Status.REWIND, Status.ERR),
        (Status.BEYOND_END, Status.ERR),
    ],
)
def test_the_worst_partition_decides(worst: Status, group: Status) -> None:
    verdict = judge_group(verdicts(Status.OK, worst, Status.OK), np.array([0, 1, 0]))
    assert verdict.status is group


def test_counts_totals_and_the_largest_lag_skip_unknown_lags() -> None:
    verdict = judge_group(
        verdicts(Status.OK, Status.STOP, Status.OK), np.array([3, 2**63 - 1, -1], np.int64)
    )
    assert verdict.total_lag == 2**63 - 1
    assert verdict.max_lag_row == 1
    assert verdict.counts == {Status.OK: 2, Status.STOP: 1}


def test_complete_is_the_share_of_full_windows() -> None:
    partly = PartitionVerdicts(np.ones(4, np.uint8), np.array([1.0, 0.9, 1.0, 0.0]))
    assert judge_group(partly, np.zeros(4, np.int64)).complete == 0.5


def test_a_group_without_partitions_is_ok_and_not_complete() -> None:
    verdict = judge_group(verdicts(), np.zeros(0, np.int64))
    assert verdict.status is Status.OK
    assert verdict.complete == 0.0
    assert verdict.total_lag == 0
    assert verdict.max_lag_row is None
    assert verdict.counts == {}


def test_no_lag_known_means_no_largest_lag() -> None:
    assert judge_group(verdicts(Status.OK), np.array([-1])).max_lag_row is None


def test_expiry_goes_by_the_newest_commit_of_any_partition() -> None:
    windows = Windows.empty(3, 2)
    assert not is_expired(windows, 10**15, 1000)
    for row, at in ((0, 1000), (1, 4000)):
        windows.insert(np.array([row]), np.array([[5], [at], [at], [0], [1]]), 0)
    assert not is_expired(windows, 5000, 1000)
    assert is_expired(windows, 5001, 1000)
