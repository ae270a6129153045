"""Columns: what is declared decides what is kept of them, in parts and in bytes."""

import pytest
from support.offset_events import MINUTE, NOW, At, Judge, offset_event
from warren.contracts import OffsetEvent
from warren.errors import ContractViolation
from warren_core.judgement.columns import Reported
from warren_core.judgement.judge import Taken
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import decode, encode


def event(minute: int, partitions: int = 1, **reported: list[int]) -> OffsetEvent:
    at = {p: At(100 + minute, NOW + minute * MINUTE) for p in range(partitions)}
    plain = offset_event(NOW + minute * MINUTE, {"orders": at})
    some = plain.topics["orders"].model_copy(update=reported)
    return plain.model_copy(update={"topics": {"orders": some}})


def state_of(group: Judge) -> GroupState:
    assert isinstance(group.state, GroupState)
    return group.state


def test_what_is_told_is_of_its_observation_alone() -> None:
    group = Judge()
    group.judged(event(0, leader=[3]))
    assert state_of(group).reported is None


def test_what_a_part_tells_is_kept_until_the_last_one_is_there() -> None:
    """From memory and from bytes, with new partitions."""
    group = Judge()
    assert isinstance(group(event(0, leader=[3]).model_copy(update={"parts": 2})), Taken)
    group.state = decode(encode(state_of(group)))
    more = event(0, partitions=2, leader=[3, 5]).model_copy(update={"parts": 3, "part": 1})
    assert isinstance(group(more.model_copy(update={"position": more.position + 1})), Taken)
    reported = state_of(group).reported
    assert reported is not None
    assert reported[Reported.LEADER].tolist() == [3, 5]
    group.judged(event(1, partitions=2).model_copy(update={"parts": 3, "part": 2}))
    assert state_of(group).reported is None


@pytest.mark.parametrize("name", ["leader", "last_stable"])
def test_a_number_beyond_64_bits_is_refused(name: str) -> None:
    """By name, where anybody looks at it."""
    part = event(0, **{name: [2**63]}).model_copy(update={"parts": 2})
    with pytest.raises(ContractViolation, match=f"topics.orders.{name}: beyond 64 bits"):
        Judge()(part)
