"""Committed offsets that the log does not have."""

from typing import get_args

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import OffsetEvent
from warren.settings import PolicyName
from warren_core.evaluation import Rules
from warren_core.judgement.judge import Judged

TICK = 11_000  # apart enough for each look to be remembered


def look(number: int, committed: int, log_end: int, *, commits: int = 0) -> OffsetEvent:
    """orders/0 as it is seen at the numbered tick; with a commit of that moment, or with none."""
    committed_at = NOW + (number * TICK if commits else 0)
    at = At(committed, committed_at, commits=commits, log_end=log_end)
    return offset_event(NOW + number * TICK, {"orders": {0: at}})


def statuses(judged: list[Judged]) -> list[str]:
    return [one.lag.topics["orders"].status[0] for one in judged]


@pytest.mark.parametrize("policy", get_args(PolicyName))
def test_it_is_told_at_the_second_look(policy: PolicyName) -> None:
    group = Judge(Rules(policy=policy))
    first, second = group.all([look(0, 1_000_000, 17, commits=1), look(1, 1_000_000, 17)])
    assert statuses([first, second]) == ["OK", "BEYOND_END"]
    assert first.change is None
    assert second.change is not None
    change = second.change.data
    assert (change.status, change.reason, change.total_lag) == ("ERR", "beyond_log_end", 0)
    assert change.partition_counts == {"BEYOND_END": 1}
    assert change.explanation == (
        "orders/0 BEYOND_END: committed offset 1,000,000 is beyond the log end 17: records were "
        "truncated, or the topic was made anew; a consumer that starts here is sent where its "
        "auto.offset.reset says"
    )
    assert second.lag.topics["orders"].lag == [0]


def test_one_look_in_between_says_nothing() -> None:
    """A leader that has just moved may tell too early an end."""
    ends = [1000, 1000, 990, 1000, 1000, 990, 1000]
    seen = Judge().all([look(i, 1000, end, commits=i == 0) for i, end in enumerate(ends)])
    assert statuses(seen) == ["OK"] * 7


def test_a_busy_consumer_is_always_beyond_the_ends_of_before() -> None:
    seen = Judge().all([look(i, 100 * i, 100 * i, commits=20) for i in range(12)])
    assert statuses(seen) == ["OK"] * 12
    stale = [look(12, 1200, 1100, commits=20), look(13, 1300, 1300, commits=20)]
    assert statuses(Judge(state=None).all([look(11, 1100, 1100, commits=1), *stale])) == ["OK"] * 3


def test_a_client_that_goes_on_committing_it_is_told_as_well() -> None:
    seen = Judge().all([look(i, 1_000_000, 17, commits=5) for i in range(4)])
    assert statuses(seen) == ["OK", "BEYOND_END", "BEYOND_END", "BEYOND_END"]


def test_an_unknown_log_end_is_no_look_and_changes_nothing() -> None:
    ends = [-1, 17, -1, 17, -1, -1]
    seen = Judge().all([look(i, 1_000_000, end, commits=i == 0) for i, end in enumerate(ends)])
    assert statuses(seen) == ["OK", "OK", "OK", "BEYOND_END", "BEYOND_END", "BEYOND_END"]


def test_it_ends_when_the_log_has_the_offset_or_the_group_commits_another() -> None:
    group = Judge()
    group.all([look(0, 20, 17, commits=1), look(1, 20, 17)])
    assert statuses([group.judged(look(2, 20, 20))]) == ["OK"]
    group.all([look(3, 40, 30, commits=1), look(4, 40, 30)])
    closed = group.judged(look(5, 30, 30, commits=1))
    assert statuses([closed]) == ["OK"]
    assert closed.change is not None
    assert closed.change.data.previous == "ERR"


def made_anew(*later: OffsetEvent) -> list[str]:
    """A group at work on a log until 570 of 590; what is seen once the topic was made anew."""
    before = [look(i, 50 * i, 50 * i + 30, commits=1) for i in range(1, 12)]
    return statuses(Judge().all([*before, *later]))[len(before) :]


def test_the_ends_of_a_log_of_before_are_no_looks() -> None:
    """Its client commits the old position once more, and then goes on in the new log."""
    old = look(12, 570, 22, commits=1)
    new = [look(i, 50 * (i - 12), 50 * (i - 12) + 30, commits=1) for i in range(13, 25)]
    assert set(made_anew(old, *new)) == {"OK"}


def test_who_stays_beyond_the_new_log_is_told_of() -> None:
    again = [look(i, 570, 22 + i) for i in range(12, 16)]
    assert made_anew(*again) == ["OK", "BEYOND_END", "BEYOND_END", "BEYOND_END"]


def test_a_commit_beyond_the_end_is_no_place_to_go_back_from() -> None:
    seen = [look(i, 570, 60 + i) for i in range(12, 14)]
    gone_on = [look(14, 75, 90, commits=1), look(15, 95, 100, commits=1)]
    assert made_anew(*seen, *gone_on) == ["OK", "BEYOND_END", "OK", "OK"]


def test_an_end_that_goes_back_above_the_commits_ends_no_incident() -> None:
    """A leader that has just moved says less for once: who has stopped has not recovered."""
    ends = [200 + 20 * i for i in range(40)]
    ends[35] = ends[34] - 5
    stopped = [look(i, 100, end, commits=i < 3) for i, end in enumerate(ends)]
    assert set(statuses(Judge().all(stopped))[20:]) == {"STOP"}


@pytest.mark.parametrize("policy", get_args(PolicyName))
def test_who_goes_on_while_nobody_can_read_the_log_end_is_not_beyond_it(policy: PolicyName) -> None:
    """Its leader does not answer for a while."""
    seen = [look(i, 100 * i, 100 * i, commits=20) for i in range(5)]
    seen += [look(i, 100 * i, -1, commits=20) for i in range(5, 10)]
    seen += [look(i, 100 * i, 100 * i, commits=20) for i in range(10, 13)]
    assert statuses(Judge(Rules(policy=policy)).all(seen)) == ["OK"] * 13
