"""Membership: what is remembered of a group's members."""

import pytest
from support.group_looks import group_event
from warren_core.judgement.membership import (
    CorruptMembership,
    decode,
    encode,
    membership_after,
)


def test_a_membership_comes_back_from_its_bytes_as_it_was() -> None:
    before = membership_after(group_event(0, [0], [1]), None)
    for known in (before, membership_after(group_event(3, rebalances=2), before)):
        assert decode(encode(known)) == known
    assert membership_after(group_event(0, rebalances=7), before) is before  # replayed
    for damaged in (b"", b"{}", b"[]", b'{"v":2}', b"\xff", encode(before)[:-9]):
        with pytest.raises(CorruptMembership):
            decode(damaged)
