"""A commit that is told twice is one: a collector that starts again reads what it had read."""

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.settings import PolicyName
from warren_core.evaluation import Rules
from warren_core.judgement.judge import Judged

S = 1000
LOOK = 5 * S
WORKS_S, STANDS_S = 600, 300


def consumer_that_has_gone(*, told_again: int, policy: PolicyName = "progress") -> list[Judged]:
    """It commits every five seconds for ten minutes, and then never; ten records come at a look.

    `told_again`: by so many of the last looks, its last commit is counted once more.
    """
    group = Judge(Rules(policy=policy))
    committed, committed_at, found = 0, NOW, []
    looks = (WORKS_S + STANDS_S) * S // LOOK
    for look in range(looks):
        now, works = NOW + look * LOOK, look * LOOK < WORKS_S * S
        if works:
            committed, committed_at = 10 * look, now - 100
        commits = int(works or look >= looks - told_again)
        at = At(committed, committed_at, commits=commits, log_end=10 * look)
        found.append(group.judged(offset_event(now, {"orders": {0: at}})))
    return found


@pytest.mark.parametrize("told_again", [2, 20])
def test_replay_of_the_last_commit_is_no_sign_of_life(told_again: int) -> None:
    newest = consumer_that_has_gone(told_again=told_again)[-1].lag
    assert newest.topics["orders"].status == ["STOP"]
    assert newest.reason == "no_commit"


def test_same_verdicts_whether_it_was_told_again_or_not() -> None:
    again, once = (consumer_that_has_gone(told_again=count) for count in (20, 0))
    assert [each.lag.explanation for each in again] == [each.lag.explanation for each in once]


def test_new_commit_of_the_same_offset_counts() -> None:
    group = Judge(Rules(policy="progress"))
    for look in range(180):
        now = NOW + look * LOOK
        stands = look > 120
        at = At(10 * min(look, 120), now - 100, log_end=10 * look + (10 if stands else 0))
        newest = group.judged(offset_event(now, {"orders": {0: at}}))
    assert newest.lag.topics["orders"].status == ["STALL"]
