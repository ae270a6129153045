"""Lag events of huge groups: split for records, put together again."""

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import LagEvent, group_key, part_key, split_group_key, whole_key
from warren.errors import ContractViolation
from warren_core.judgement.lag_parts import MOST_PARTITIONS, in_parts, joined, split


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
    values = in_parts(evaluation(MOST_PARTITIONS + 1, commits=1), 2**30)
    assert len(values) == 2


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
