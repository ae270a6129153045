"""Partitions that a topic has gained: who reads the others is known already."""

import pytest
from support.offset_events import NOW, At, Judge, offset_event
from warren_core.evaluation import Rules

S = 1_000
EVERY = 480  # seconds; it reads for 20


def _statuses(gained_at: int, until: int) -> list[tuple[int, str]]:
    """Of a group that runs for 20 s in each 8 min. [(second, status)] where it is not OK."""
    judge = Judge(Rules(policy="progress"))
    committed = dict.fromkeys(range(2), 0)
    committed_at = dict.fromkeys(committed, 0)
    bad = []
    for second in range(0, until, 5):
        if second == gained_at:
            committed[2], committed_at[2] = 0, second
        commits = second % EVERY < 20
        if commits:
            for partition in committed:
                committed[partition], committed_at[partition] = second * 10 + 1, second
        elif second % 10:
            continue
        at = {
            p: At(offset, NOW + committed_at[p] * S, commits=int(commits), log_end=second * 10 + 1)
            for p, offset in committed.items()
        }
        status: str = judge.judged(offset_event(NOW + second * S, {"orders": at})).lag.status
        if status != "OK":
            bad.append((second, status))
    return bad


@pytest.mark.heavy
@pytest.mark.parametrize("read", [0, 5, 10, 15])
def test_a_new_partition_has_the_habits_of_its_topic(read: int) -> None:
    """`read`: seconds of the run before it is there."""
    learnt = 10 * EVERY
    bad = _statuses(learnt + read, learnt + 6 * EVERY)
    assert [one for one in bad if one[0] >= learnt] == []


def test_a_new_partition_that_nobody_reads_is_told() -> None:
    """As its siblings would be: the habits are theirs, no excuse for ever."""
    judge = Judge(Rules(policy="progress"))
    for second in range(0, 600, 5):
        at = {p: At(second * 10 + 1, NOW + second * S) for p in range(2)}
        judge.judged(offset_event(NOW + second * S, {"orders": at}))
    told = None
    for second in range(600, 1200, 5):
        at = {p: At(second * 10 + 1, NOW + second * S) for p in range(2)}
        at[2] = At(100, NOW + 600 * S, commits=int(second == 600), log_end=second * 10)
        event = offset_event(NOW + second * S, {"orders": at})
        if judge.judged(event).lag.status != "OK":
            told = told or second
    assert told is not None
    assert told - 600 <= 60
