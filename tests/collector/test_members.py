from __future__ import annotations

import pytest
from support.assigned_members import TWO, member
from warren.contracts import GroupMember
from warren_collector.groups.members import assignment_skew, idle_members, unowned


@pytest.mark.parametrize(
    ("members", "idle", "skew"),
    [
        ([], 0, None),
        ([member("a", "t")], 1, None),
        ([member("a", "t", t=[0])], 0, 1.0),
        (TWO, 0, 1.5),
        ([*TWO, member("c", "t")], 1, 9 / 4),
        ([member("a", "t", "u", t=[0, 1], u=[0, 1]), member("b", "t", "u")], 1, 2.0),
    ],
)
def test_idle_members_and_skew(members: list[GroupMember], idle: int, skew: float | None) -> None:
    assert (idle_members(members), assignment_skew(members)) == (idle, skew)


def test_unowned_partitions_are_of_subscribed_topics_whose_size_is_known() -> None:
    members = [member("a", "t", "u", "unknown", t=[0, 2]), member("b", "v", t=[3], v=[0], w=[1])]
    sizes = {"t": 5, "u": 2, "v": 1, "w": 9, "other": 3}
    assert unowned(members, sizes) == {"t": [1, 4], "u": [0, 1]}
