"""First verdicts of policy `burrow`: to the letter, from the first commit on."""

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import EarlierPositions
from warren_core.evaluation import Rules

TICK = 5_000
RATE = 100  # records per second


def end_at(ms: int) -> int:
    """Where the log ends so many milliseconds after NOW."""
    return 1_000_000 + RATE * ms // 1000


def test_an_only_commit_is_a_stop_at_once() -> None:
    group = Judge()
    at = At(5, NOW - 1, log_end=900)
    assert group.judged(offset_event(NOW, {"orders": {0: at}})).lag.status == "ERR"


def test_a_stop_is_found_as_soon_as_burrow_finds_it() -> None:
    """Two commits 20 s apart, far behind, and then none: the next look after 20 s of silence."""
    group, statuses = Judge(), []
    for tick in range(10):
        now = tick * TICK
        newest = min(now // 20_000, 1)
        commits = int(now in (0, 20_000))
        at = At(10 + newest, NOW + newest * 20_000, commits=commits, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses[4:] == ["WARN"] * 5 + ["STOP"]


def test_the_same_offset_twice_is_a_stall() -> None:
    group, statuses = Judge(), []
    for now in (0, TICK):
        at = At(10, NOW + now, commits=1, log_end=end_at(now))
        judged = group.judged(offset_event(NOW + now, {"orders": {0: at}}))
        statuses.append(judged.lag.topics["orders"].status[0])
    assert statuses == ["STALL", "STALL"]


@pytest.mark.parametrize(("heartbeat_ms", "status"), [(2_000, "STOP"), (10_000, "STALL")])
def test_ends_of_before_a_group_came_are_remembered_for_as_long_as_those_after(
    heartbeat_ms: int, status: str
) -> None:
    """It committed where the log ended 50 s ago: with a heartbeat of 2 s ten ends are 22 s."""
    assert first_status(heartbeat_ms, committed=end_at(-50_000), last_end_ms=-10_000) == status


@pytest.mark.parametrize("heartbeat_ms", [200, 1_000, 10_000])
def test_a_consumer_at_the_end_is_no_stop_though_the_end_was_read_again_after_its_commit(
    heartbeat_ms: int,
) -> None:
    """It is not behind, by the end of up to 10 s before."""
    assert first_status(heartbeat_ms, committed=end_at(-200), last_end_ms=-100) != "STOP"


def first_status(heartbeat_ms: int, committed: int, last_end_ms: int) -> str:
    """Of a group, by its first commit and ten ends before, 10 s apart."""
    ends = [end_at(last_end_ms - back * 10_000) for back in range(9, -1, -1)]
    earlier = EarlierPositions(partition=[0], log_end=[ends], committed=[[]], committed_at=[[]])
    group = Judge(Rules(log_ends_apart_ms=heartbeat_ms * 11 // 10))
    at = At(committed, NOW - 1, log_end=end_at(0))
    judged = group.judged(offset_event(NOW, {"orders": {0: at}}, earlier={"orders": earlier}))
    (status,) = judged.lag.topics["orders"].status
    return status
