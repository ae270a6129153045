"""Lag counts what can be read: what retention has deleted is no lag."""

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import TopicLag
from warren.settings import PolicyName
from warren_core.evaluation import Rules
from warren_core.judgement.judge import Judged
from warren_core.judgement.state import GroupState
from warren_core.objectives.readings import group_lag

S = 1000
LOOK = 5 * S
POLICIES: list[PolicyName] = ["progress", "burrow"]


def looks(policy: PolicyName, log_start: int, *, minutes: int = 40) -> tuple[Judge, list[Judged]]:
    """A member is there and commits 0 at its start. 300 records come; two minutes later all before
    `log_start` are deleted.
    """
    group, found = Judge(Rules(policy=policy)), []
    for now in range(NOW, NOW + minutes * MINUTE, LOOK):
        start = log_start if now - NOW >= 2 * MINUTE else 0
        at = At(0, NOW, commits=int(now == NOW), log_start=start, log_end=300)
        event = offset_event(now, {"orders": {0: at}}, group_state="Stable")
        found.append(group.judged(event))
    return group, found


def columns(judged: Judged) -> TopicLag:
    return judged.lag.topics["orders"]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_left_of_an_emptied_log(policy: PolicyName) -> None:
    group, found = looks(policy, 300)
    assert columns(found[-1]).lag == [0]
    assert found[-1].lag.total_lag == 0
    assert columns(found[-1]).status == ["OK"]
    assert isinstance(group.state, GroupState)
    stands = group_lag(group.state, group.state.applied.observed_at)
    assert stands is not None
    assert stands.total == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_part_of_a_log_that_is_left_is_the_lag(policy: PolicyName) -> None:
    _, found = looks(policy, 200)
    assert columns(found[-1]).lag == [100]
    assert found[-1].lag.total_lag == 100


def test_who_leaves_what_is_left_has_stopped() -> None:
    _, found = looks("progress", 200)
    assert columns(found[-1]).status == ["STOP"]
    assert found[-1].lag.explanation is not None
    assert "100 records behind" in found[-1].lag.explanation


def test_stop_that_was_told_ends_with_the_log() -> None:
    """Nobody can read on, and what was lost is told elsewhere."""
    _, found = looks("progress", 300)
    changes = [each.change.data.status for each in found if each.change]
    assert changes in ([], ["ERR", "OK"])


@pytest.mark.heavy
def test_wait_begins_anew_with_the_next_record() -> None:
    group, found = looks("progress", 300)
    end = found[-1].lag.evaluated_at
    for later in range(end + LOOK, end + 31 * S, LOOK):
        at = At(0, NOW, commits=0, log_start=300, log_end=301)
        found.append(group.judged(offset_event(later, {"orders": {0: at}}, group_state="Stable")))
    assert columns(found[-1]).lag == [1]
    assert columns(found[-1]).status == ["OK"]


def test_growth_is_that_of_the_log_whatever_is_deleted() -> None:
    """Who reads half of what comes falls behind also while retention deletes what it leaves."""
    group = Judge(Rules(policy="progress"))
    for look in range(400):
        now = NOW + look * LOOK
        slow = look > 200
        end = 100 * look
        committed = end if not slow else 20_000 + 50 * (look - 200)
        start = max(committed - 10, 0)
        if look > 300:
            start = committed + 100
        at = At(committed, now - 100, log_start=start, log_end=end)
        newest = group.judged(offset_event(now, {"orders": {0: at}}))
    assert columns(newest).status == ["WARN"]
    assert columns(newest).lag == [399 * 100 - (20_000 + 50 * 199) - 100]
