"""Columns: what is declared decides what is kept of them, in parts, in cohorts and in bytes."""

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import OffsetEvent
from warren.errors import ContractViolation
from warren_core.evaluation import Rules
from warren_core.judgement import columns
from warren_core.judgement.brief import Entry
from warren_core.judgement.cohort import judge_together, tell_together
from warren_core.judgement.columns import Told
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import decode, encode


def event(minute: int, partitions: int = 1, **told: list[int]) -> OffsetEvent:
    at = {p: At(100 + minute, NOW + minute * MINUTE) for p in range(partitions)}
    plain = offset_event(NOW + minute * MINUTE, {"orders": at})
    some = plain.topics["orders"].model_copy(update=told)
    return plain.model_copy(update={"topics": {"orders": some}})


def state_of(group: Judge) -> GroupState:
    assert isinstance(group.state, GroupState)
    return group.state


def told_of(state: object) -> list[list[int]]:
    assert isinstance(state, GroupState)
    assert state.told is not None
    return state.told[[Told.LEADER, Told.LAST_STABLE]].tolist()


def test_what_is_told_is_of_its_observation_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "KEPT", frozenset[Told]())
    group = Judge()
    group.judged(event(0, leader=[3]))
    assert state_of(group).told is None


def test_what_is_kept_stays_until_it_is_told_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone and in a cohort, with new partitions, from memory and from bytes."""
    monkeypatch.setattr(columns, "KEPT", frozenset({Told.LEADER}))
    group = Judge()
    group.judged(event(0, leader=[3], last_stable=[99]))
    assert told_of(group.state) == [[3], [99]]
    group.state = decode(encode(state_of(group)))
    silent, new = Entry(event(1), group.state, 1), Entry(event(1, leader=[4]), group.state, 1)
    for entry, leader in ((silent, 3), (new, 4)):
        (brief,), (judged,) = judge_together([entry], Rules()), tell_together([entry], Rules())
        assert brief is not None
        assert judged is not None
        assert told_of(brief.state) == told_of(judged.state) == [[leader], [-1]]
    group.judged(event(1, partitions=2))
    assert told_of(group.state) == [[3, -1], [-1, -1]]
    group.judged(event(2, partitions=2, leader=[3, 5]))
    assert told_of(group.state) == [[3, 5], [-1, -1]]


@pytest.mark.parametrize("name", ["leader", "last_stable"])
def test_a_number_beyond_64_bits_is_refused(name: str) -> None:
    """By name, where anybody looks at it."""
    part = event(0, **{name: [2**63]}).model_copy(update={"parts": 2})
    with pytest.raises(ContractViolation, match=f"topics.orders.{name}: beyond 64 bits"):
        Judge()(part)
