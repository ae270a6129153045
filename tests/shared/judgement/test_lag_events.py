"""Lag events: what is published of a judgement, and why a group is not OK."""

import numpy as np
import pytest
from support.offset_events import MINUTE, NOW, At, Judge, commits, offset_event
from warren.contracts import (
    LagEvent,
    StatusChangeEvent,
    group_key,
    part_key,
    split_group_key,
    whole_key,
)
from warren.errors import ContractViolation
from warren_core.evaluation import Rules
from warren_core.evaluation.packed_windows import unpack
from warren_core.judgement.lag_parts import MOST_PARTITIONS, in_parts, joined, split


def test_what_is_published_is_what_the_contracts_allow() -> None:
    """Events are built without validation, so they are validated here."""
    for judged in Judge().all(commits(105, 106, 107, 0)):
        assert LagEvent.from_bytes(judged.lag.to_bytes()) == judged.lag
        if judged.change is not None:
            raw = judged.change.to_bytes()
            assert StatusChangeEvent.from_bytes(raw).to_bytes() == raw


def test_a_lag_event_has_the_window_edges() -> None:
    *_, last = Judge().all(commits(13, 11, 12))
    topic = last.lag.topics["orders"]
    assert topic.window_start.model_dump() == {
        "offset": [100],
        "at": [NOW],
        "observed_at": [NOW],
        "lag": [13],
    }
    assert topic.window_end.model_dump() == {
        "offset": [120],
        "at": [NOW + 2 * MINUTE],
        "observed_at": [NOW + 2 * MINUTE],
        "lag": [12],
    }
    assert topic.complete == [0.3]
    assert last.lag.complete == 0.0


def test_a_lag_event_has_all_commits_of_the_windows() -> None:
    *_, judged = Judge().all(commits(15, 14, 13))
    ends = judged.lag.topics["orders"].window_end
    newest = np.array([ends.offset, ends.at, ends.observed_at, ends.lag], np.int64)
    assert judged.lag.windows is not None
    found = unpack(judged.lag.windows, newest)
    assert found.filled.tolist() == [3]
    times = [NOW, NOW + MINUTE, NOW + 2 * MINUTE]
    assert found.columns[:, 0, -3:].tolist() == [[100, 110, 120], times, times, [15, 14, 13]]


def test_a_full_window_is_complete() -> None:
    last = Judge(Rules(intervals=3)).all(commits(3, 1, 2))[-1]
    assert last.lag.topics["orders"].complete == [1.0]
    assert last.lag.complete == 1.0


def test_who_is_not_ok_says_why() -> None:
    """In the lag event for each partition and the group, and in the change for those it lists."""
    group = Judge()
    for minute in range(4):
        now = NOW + minute * MINUTE
        rising = At(100 + minute, now, 60 * minute + 20)
        topics = {"a": {0: At(100 + minute, now), 1: rising}, "b": {0: rising}}
        judged = group.judged(offset_event(now, topics))
        if minute == 1:
            first = judged
    sentence = (
        "lag has not shrunk over 4 commits in 3m: from 20 to 200; "
        "200 records behind, log still growing by 1/s"
    )
    lag = judged.lag
    assert lag.topics["a"].reason == [None, "lag_not_shrinking"]
    assert lag.topics["a"].explanation == [None, sentence]
    assert lag.topics["b"].reason == ["lag_not_shrinking"]
    assert lag.reason == "lag_not_shrinking"
    assert lag.explanation == f"a/1 WARN: {sentence}; 1 more is not OK"
    assert first.change is not None
    data = first.change.data
    assert (data.reason, data.explanation) == (first.lag.reason, first.lag.explanation)
    listed = [(bad.topic, bad.reason, bad.explanation) for bad in data.partitions]
    assert [entry[:2] for entry in listed] == [("a", data.reason), ("b", data.reason)]
    assert listed[0][2] == first.lag.topics["a"].explanation[1]


def test_a_group_that_is_ok_again_has_no_reason() -> None:
    judged = Judge().all(commits(111, 112, 113, 112))[-1]
    assert judged.change is not None
    assert (judged.change.data.reason, judged.change.data.explanation) == (None, None)
    assert (judged.lag.reason, judged.lag.explanation) == (None, None)
    assert judged.lag.topics["orders"].reason == judged.lag.topics["orders"].explanation == [None]


def test_a_sentence_of_progress_tells_the_pause_it_has_learnt() -> None:
    group = Judge(Rules(policy="progress"))
    for i in range(12):
        at = At(1000 + 200 * i, NOW + i * 5000, 5 * (i % 2))
        group.judged(offset_event(NOW + i * 5000, {"orders": {0: at}}))
    last = NOW + 11 * 5000
    for seconds in range(10, 253, 10):
        silent = At(3200, last, 5 + 40 * seconds, commits=0)
        judged = group.judged(offset_event(last + seconds * 1000, {"orders": {0: silent}}))
    assert judged.lag.explanation == (
        "orders/0 STOP: no commit for 4m 10s, usual pause 5s; "
        "10,005 records behind, log still growing by 40/s"
    )
    assert judged.lag.reason == "no_commit"


def evaluation(partitions: int, commits: int = 3) -> LagEvent:
    """Of two topics: the first has a third of the partitions; some are not well."""
    judge = Judge()
    for commit in range(commits):
        at = NOW + commit * MINUTE
        ats = {p: At(100 + 10 * commit + p, at, p % 7) for p in range(partitions)}
        third = partitions // 3
        topics = {
            "audit": {p: ats[p] for p in range(third)},
            "orders": {p: ats[p] for p in range(third, partitions)},
        }
        judged = judge.judged(offset_event(at, topics))
    return LagEvent.from_bytes(judged.lag.to_bytes())


@pytest.mark.parametrize("count", [1, 2, 3, 7, 30])
def test_parts_put_together_are_the_whole(count: int) -> None:
    event = evaluation(30)
    parts = [LagEvent.from_bytes(part.to_bytes()) for part in split(event, count)]
    assert [(part.part, part.parts) for part in parts] == [(n, count) for n in range(count)]
    assert {(part.status, part.total_lag, part.reason) for part in parts} == {
        (event.status, event.total_lag, event.reason)
    }
    assert joined(parts) == event


def test_a_usual_group_is_one_record() -> None:
    event = evaluation(30)
    assert in_parts(event, 4 * 2**20) == [event.to_bytes()]


def test_a_huge_group_is_split_before_anything_large_is_written() -> None:
    assert len(in_parts(evaluation(MOST_PARTITIONS + 1, commits=1), 2**30)) == 2


# Lag events of huge groups: split for records, put together again.


def test_parts_are_as_small_as_they_must_be() -> None:
    values = in_parts(evaluation(30), 3000)
    assert max(map(len, values)) <= 3000
    assert joined([LagEvent.from_bytes(value) for value in values]) == evaluation(30)


def test_no_part_has_less_than_one_partition() -> None:
    assert len(in_parts(evaluation(6), 10)) == 6


def test_keys_of_parts() -> None:
    key = group_key("prod", "a|b")
    assert part_key(key, 0) == key
    assert part_key(key, 12) == b"+12|prod|a|b"
    assert whole_key(part_key(key, 12)) == key == whole_key(key)
    assert whole_key(b"prod|+1|x") == b"prod|+1|x"
    with pytest.raises(ContractViolation):
        split_group_key(part_key(key, 1))  # as who does not know of parts reads it
