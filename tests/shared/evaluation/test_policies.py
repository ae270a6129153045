"""The vectorised policies against a naive reading of the rules, one partition at a time."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from warren.contracts.status import Status
from warren.settings import PolicyName
from warren_core.evaluation import (
    MAX_TIME,
    POLICIES,
    UNKNOWN,
    Column,
    Evidence,
    PartitionVerdicts,
    Windows,
    is_expired,
    judge_group,
    judge_partitions,
)


@dataclass
class Slot:
    offset: int
    at: int
    lag: int | None


@dataclass
class Partition:
    """One partition as a person would write it down."""

    slots: list[Slot | None]
    current_lag: int | None
    log_ends: list[int] = field(default_factory=list)
    now_ms: int = 0

    @property
    def commits(self) -> list[Slot]:
        return [slot for slot in self.slots if slot is not None]

    @property
    def lags(self) -> list[int]:
        return [slot.lag for slot in self.commits if slot.lag is not None]


def stopped(p: Partition) -> bool:
    first, last = p.commits[0].at, p.commits[-1].at
    return p.now_ms - last > last - first


def read_burrow(p: Partition, allowed: int) -> str:
    """DESIGN §5, rules A to G."""
    offsets = [slot.offset for slot in p.commits]
    if p.current_lag is None or p.current_lag <= allowed:
        return "OK"
    if stopped(p) and not any(end <= offsets[-1] for end in p.log_ends):
        return "STOP"
    for i in range(1, len(offsets)):
        if offsets[i] < offsets[i - 1]:
            if not any(later >= offsets[i - 1] for later in offsets[i:]):
                return "REWIND"
            break
    if any(lag <= allowed for lag in p.lags):
        return "OK"
    if len(set(offsets)) == 1:
        return "STALL"
    if all(later >= earlier for earlier, later in pairwise(p.lags)):
        return "WARN"
    return "OK"


def read(p: Partition, allowed: int, minimum: float) -> str:
    complete = len(p.commits) / len(p.slots)
    if not p.commits or np.float32(complete) < np.float32(minimum):
        return "OK"
    return read_burrow(p, allowed)


def columns(partitions: list[Partition], intervals: int) -> Windows:
    windows = Windows.empty(len(partitions), intervals)
    ends = max(1, *(len(p.log_ends) for p in partitions))
    windows.log_ends = np.full((len(partitions), ends), UNKNOWN, np.int64)
    for row, p in enumerate(partitions):
        windows.filled[row] = len(p.commits)
        for slot, commit in enumerate(p.commits, intervals - len(p.commits)):
            windows.columns[Column.OFFSET, row, slot] = commit.offset
            windows.columns[Column.COMMITTED_AT, row, slot] = commit.at
            windows.columns[Column.LAG, row, slot] = UNKNOWN if commit.lag is None else commit.lag
        for slot, end in enumerate(p.log_ends):
            windows.log_ends[row, slot] = end
    return windows


def judge(
    policy: PolicyName,
    partitions: list[Partition],
    allowed: int = 0,
    minimum: float = 0,
) -> list[str]:
    intervals = len(partitions[0].slots)
    windows = columns(partitions, intervals)
    evidence = Evidence(
        windows=windows,
        current_lag=np.array([-1 if p.current_lag is None else p.current_lag for p in partitions]),
        now_ms=np.array([p.now_ms for p in partitions]),
    )
    verdicts = judge_partitions(
        evidence,
        POLICIES[policy],
        intervals=intervals,
        allowed_lag=allowed,
        minimum_complete=minimum,
    )
    return [Status(status).name for status in verdicts.status.tolist()]


SMALL = st.integers(0, 5)
LARGE = st.integers(0, 2**63 - 1)


@st.composite
def slots(draw: st.DrawFn, filled: int) -> list[Slot]:
    """Few distinct values, so that every rule is near its edge; now and then the largest."""
    numbers = draw(st.sampled_from([SMALL, SMALL, SMALL, LARGE]))
    shape = draw(st.sampled_from(["any", "up", "same"]))
    offsets = draw(st.lists(numbers, min_size=filled, max_size=filled))
    if shape == "up":
        offsets.sort()
    elif shape == "same":
        offsets = offsets[:1] * filled
    times = draw(
        st.lists(st.sampled_from([0, 1, 2, 7, MAX_TIME]), min_size=filled, max_size=filled)
    )
    lags = draw(st.lists(st.none() | numbers, min_size=filled, max_size=filled))
    if draw(st.booleans()):
        known = iter(sorted(lag for lag in lags if lag is not None))
        lags = [None if lag is None else next(known) for lag in lags]
    if draw(st.booleans()):
        times.sort()
    return [Slot(*parts) for parts in zip(offsets, times, lags, strict=True)]


@st.composite
def partitions(draw: st.DrawFn, intervals: int) -> Partition:
    filled = draw(st.integers(0, intervals))
    return Partition(
        slots=[None] * (intervals - filled) + draw(slots(filled)),
        current_lag=draw(st.none() | SMALL | LARGE),
        log_ends=draw(st.lists(SMALL | LARGE, max_size=4)),
        now_ms=draw(st.sampled_from([-MAX_TIME, 0, 2, 3, 8, 14, 15, MAX_TIME])),
    )


@st.composite
def groups(draw: st.DrawFn, fewest: int = 1) -> list[Partition]:
    intervals = draw(st.integers(fewest, 8))
    return draw(st.lists(partitions(intervals), min_size=1, max_size=6))


@settings(max_examples=200)
@given(groups(), st.integers(0, 4), st.sampled_from([0, 0.3, 1]))
def test_vectorised_statuses_are_those_of_a_naive_reading(
    group: list[Partition], allowed: int, minimum: float
) -> None:
    expected = [read(p, allowed, minimum) for p in group]
    assert judge("burrow", group, allowed, minimum) == expected


@settings(max_examples=60)
@given(groups(), st.integers(0, 4))
def test_progress_judges_whatever_a_window_holds_and_rows_do_not_matter_to_each_other(
    group: list[Partition], allowed: int
) -> None:
    together = judge("progress", group, allowed)
    assert together == [judge("progress", [p], allowed)[0] for p in group]
    for p, status in zip(group, together, strict=True):
        assert status == "OK" or (p.commits and p.current_lag is not None)


def window(offsets: list[int], lags: list[int], step_s: int = 60) -> list[Slot | None]:
    """Commits `step_s` apart, the first at time 0."""
    return [
        Slot(offset, i * step_s * 1000, lag)
        for i, (offset, lag) in enumerate(zip(offsets, lags, strict=True))
    ]


RISING = list(range(10, 110, 10))
# The window and the time of each worked example on Burrow's wiki page "Consumer Lag Evaluation
# Rules": ten commits a minute apart; the first four are judged when the last one arrives.
EXAMPLES = [
    pytest.param(RISING, [0, 0, 0, 0, 0, 0, 1, 3, 5, 5], 540, "OK", id="1 lag was zero"),
    pytest.param([10] * 10, [1, 1, 1, 1, 1, 2, 2, 2, 3, 3], 540, "STALL", id="2 stalled"),
    pytest.param(RISING, [1, 1, 1, 1, 1, 2, 2, 2, 3, 3], 540, "WARN", id="3 slow"),
    pytest.param(RISING, [5, 3, 5, 2, 1, 1, 2, 1, 4, 6], 540, "OK", id="4 catching up"),
    pytest.param(RISING, [5, 3, 5, 2, 1, 1, 2, 1, 4, 6], 1200, "STOP", id="5 stopped"),
]


@pytest.mark.parametrize(("offsets", "lags", "now_s", "status"), EXAMPLES)
def test_published_examples_hold(
    offsets: list[int], lags: list[int], now_s: int, status: str
) -> None:
    log_end = offsets[-1] + lags[-1]
    p = Partition(window(offsets, lags), lags[-1], [log_end], now_s * 1000)
    assert judge("burrow", [p]) == [status]


@pytest.mark.parametrize("policy", list(POLICIES))
def test_an_unknown_current_lag_never_stops_a_partition(policy: PolicyName) -> None:
    p = Partition(window(RISING, [5, 3, 5, 2, 1, 1, 2, 1, 4, 6]), None, [], 1200_000)
    assert judge(policy, [p]) == ["OK"]


def test_a_minimum_is_compared_in_single_precision_as_burrow_does() -> None:
    p = Partition([None, None, Slot(10, 0, 5)], 5, [15], 60_000)
    assert judge("burrow", [p], minimum=0.33333334) == ["STOP"]
    assert judge("burrow", [p], minimum=0.3334) == ["OK"]


# The group's verdict from its partitions'.


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
