"""Groups that commit the last offset that they have processed, not the next one."""

from typing import get_args

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import OffsetEvent
from warren.settings import PolicyName
from warren_core.evaluation import CommitEvidence, Rest, Rules
from warren_core.judgement.judge import Judged
from warren_core.judgement.state_codec import decode, encode

TICK = 11_000


def look(tick: int, *places: tuple[int, int], committed_at: int | None = None) -> OffsetEvent:
    """(committed, log end) of orders/0, /1, …; the commits are of that tick unless told."""
    at = NOW + (tick if committed_at is None else committed_at) * TICK
    partitions = {
        number: At(committed, at, commits=int(committed_at is None), log_end=end)
        for number, (committed, end) in enumerate(places)
    }
    return offset_event(NOW + tick * TICK, {"orders": partitions})


def resting(first: int, ticks: int, *places: tuple[int, int]) -> list[OffsetEvent]:
    """A commit, and then nothing."""
    return [
        look(first + tick, *places, committed_at=None if tick == 0 else first)
        for tick in range(ticks)
    ]


def lags(judged: Judged) -> list[int | None]:
    return judged.lag.topics["orders"].lag


@pytest.mark.parametrize("policy", get_args(PolicyName))
def test_a_group_that_rests_one_before_the_end_again_and_again_has_no_lag(
    policy: PolicyName,
) -> None:
    group = Judge(Rules(policy=policy))
    first = group.all(resting(0, 3, (99, 100)))
    assert lags(first[-1]) == [1], "it may be stuck on the last record"
    assert first[-1].lag.last_processed == []
    second = group.all(resting(3, 90, (149, 150)))
    assert lags(second[0]) == [1]
    assert lags(second[-1]) == [0]
    assert second[-1].lag.last_processed == ["orders"]
    assert {one.lag.status for one in second} == {"OK"}
    assert second[-1].lag.total_lag == 0
    assert lags(group.all(resting(93, 3, (149, 170)))[-1]) == [20]


def test_one_that_commits_where_it_rests_again_and_again_has_no_lag() -> None:
    """As clients do that commit every few seconds, whatever they have processed."""
    group = Judge()
    seen = group.all(
        look(tick, (99 + 50 * (tick // 3), 100 + 50 * (tick // 3))) for tick in range(6)
    )
    assert [lags(one) for one in seen] == [[1]] * 4 + [[0]] * 2
    assert seen[-1].lag.last_processed == ["orders"]


def test_two_partitions_tell_sooner() -> None:
    assert lags(Judge().all(resting(0, 3, (99, 100), (49, 50)))[-1]) == [0, 0]


def test_one_that_has_reached_an_end_commits_what_it_reads_next() -> None:
    group = Judge()
    group.all(resting(0, 3, (100, 100), (49, 50)))
    seen = group.all([*resting(3, 3, (149, 150), (49, 50)), *resting(6, 3, (159, 160), (59, 60))])
    assert lags(seen[-1]) == [1, 1]
    assert seen[-1].lag.last_processed == []


def test_reaching_the_end_later_corrects_what_was_thought() -> None:
    group = Judge()
    assert lags(group.all(resting(0, 3, (99, 100), (49, 50)))[-1]) == [0, 0]
    assert lags(group.all([look(3, (100, 100), (49, 50))])[-1]) == [0, 1]


def test_a_log_that_goes_on_is_no_rest() -> None:
    """A consumer that is one record behind at every look."""
    seen = Judge().all([look(tick, (10 * tick + 9, 10 * tick + 10)) for tick in range(20)])
    assert seen[-1].lag.last_processed == []


def test_what_was_learnt_is_stored() -> None:
    group = Judge()
    group.all(resting(0, 3, (99, 100)))
    assert group.state is not None
    stored = decode(encode(group.state))
    assert stored.commits == {"orders": CommitEvidence(frozenset({Rest(0, 100)}))}  # type: ignore[union-attr]
    group.state = stored
    assert lags(group.all(resting(3, 3, (149, 150)))[-1]) == [0]
    assert decode(encode(group.state)).commits == group.state.commits  # type: ignore[union-attr]


# A commit that is told twice is one: a collector that starts again reads what it had read.

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
