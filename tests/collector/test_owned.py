"""Partitions that members own and nobody has ever committed."""

from typing import Any

import numpy as np
import pytest
from support.group_bench import GroupBench, classic, commit, uncommit
from warren.contracts import GroupEvent, GroupMember, OffsetEvent, TopicPositions
from warren_collector.groups.reports import owned_after
from warren_collector.logs.ends import LogEnds, TopicLog
from warren_collector.positions.events import Origin, group_events
from warren_collector.positions.index import NOTHING_OWNED, Owned

ENDS = LogEnds({"orders": TopicLog(np.zeros(3, np.int64), np.array([10, 20, 30]))})
ORIGIN = Origin("prod", "offsets_topic", 5000)


def events(at: GroupBench, ends: LogEnds = ENDS) -> list[OffsetEvent]:
    """What a tick publishes of all groups, once members were looked at."""
    at.look_at_groups()
    groups = at.positions.groups.due(-1.0)
    found = [group_events(group, at.positions.columns, ends, ORIGIN, 7, 5000) for group in groups]
    at.positions.published(groups, [rows for each in found for rows in each.rows], at=1.0)
    return [event for each in found for event in each.events]


def only(at: GroupBench, ends: LogEnds = ENDS) -> TopicPositions:
    (event,) = events(at, ends)
    assert not event.deleted
    return event.topics["orders"]


def test_a_group_that_has_never_committed_is_told_by_what_its_members_own() -> None:
    at = GroupBench()
    at.fold(classic("billing", 3, "m"))
    topic = only(at)
    assert topic.partition == [0, 2]
    assert (topic.committed, topic.committed_at, topic.commits) == ([-1, -1], [-1, -1], [0, 0])
    assert (topic.log_end, topic.owned) == ([10, 30], [1, 1])


def test_what_cannot_be_read_of_its_log_is_unknown() -> None:
    at = GroupBench()
    at.fold(classic("billing", 3, "m"))
    assert only(at, LogEnds()).log_end == [-1, -1]
    at.positions.groups.dirty[:] = True
    short = LogEnds({"orders": TopicLog(np.zeros(1, np.int64), np.array([10]))})
    assert only(at, short).log_end == [10, -1]
    at.positions.groups.dirty[:] = True
    assert events(at, LogEnds(missing=frozenset(["orders"]))) == []


def test_siblings_of_what_is_committed_say_who_is_owned() -> None:
    at = GroupBench()
    at.fold(classic("billing", 3, "m"), commit("billing", 3))
    topic = only(at)
    assert (topic.committed, topic.owned) == ([3, -1, -1], [-1, 0, 1])
    at.fold(*(commit("billing", 4, partition) for partition in range(3)))
    assert only(at).owned is None


def test_nobody_knows_what_consumers_own_that_assign_partitions_to_themselves() -> None:
    at = GroupBench()
    at.fold(commit("billing", 3))
    topic = only(at)
    assert (topic.committed, topic.owned) == ([3, -1, -1], None)


def test_what_members_owned_that_have_left_is_told_without_an_owner() -> None:
    """Those that end at their first record come back to it."""
    at = GroupBench()
    at.fold(classic("billing", 3, "m"))
    assert only(at).owned == [1, 1]
    at.fold(classic("billing", 4))
    at.positions.groups.dirty[:] = True
    assert only(at).owned == [0, 0]


def test_others_who_own_something_else_end_it() -> None:
    at = GroupBench()
    at.fold(classic("billing", 3, "m"))
    assert only(at).partition == [0, 2]
    at.fold(classic("billing", 4, "m", "n"))
    assert only(at).partition == [0, 1, 2]
    at.fold(classic("billing", 5, "m"))
    (event,) = events(at)
    assert (event.removed, event.topics["orders"].partition) == ({"orders": [1]}, [0, 2])


def test_a_group_that_is_gone_is_deleted() -> None:
    at = GroupBench()
    at.fold(classic("billing", 3, "m"))
    assert only(at).partition == [0, 2]
    key, _ = classic("billing", 3)
    at.fold((key, None))
    told = [event for _ in range(3) for event in events(at)]
    assert [(event.deleted, event.removed) for event in told] == [(True, {"orders": [0, 2]})]
    assert len(at.positions.groups) == 0


def test_offsets_that_were_deleted_are_told_and_their_owner_stays() -> None:
    at = GroupBench()
    at.fold(classic("billing", 3, "m"), commit("billing"))
    only(at)
    at.fold(uncommit("billing"))
    (event,) = events(at)
    assert event.removed == {"orders": [0]}
    assert event.topics["orders"].committed == [-1, -1]


def described(state: str, *partitions: int, **fields: Any) -> GroupEvent:
    assignment = {"orders": list(partitions)} if partitions else {}
    member = GroupMember(member_id="m", client_id="c", host="h", assignment=assignment)
    return GroupEvent.model_validate(
        {
            **{"cluster": "prod", "group": "billing", "observed_at": 1, "position": 1},
            **{"protocol": "consumer", "state": state, "members": [member], **fields},
        }
    )


@pytest.mark.parametrize(
    ("state", "left"), [("Stable", [1]), ("Reconciling", [0, 1]), ("Assigning", [0, 1])]
)
def test_partitions_on_their_way_from_one_member_to_another_stay(
    state: str, left: list[int]
) -> None:
    before = Owned({"orders": frozenset([0, 1])}, True)
    after = owned_after(described(state, 1), before, lambda _: True)
    assert sorted(after.partitions["orders"]) == left


def test_members_of_other_protocols_own_nothing_that_is_committed() -> None:
    for fields in ({"protocol": "share"}, {"protocol": "classic", "protocol_type": "connect"}):
        event = described("Stable", 1, **fields)
        assert owned_after(event, NOTHING_OWNED, lambda _: True) == NOTHING_OWNED


def test_topics_that_are_not_watched_are_not_told() -> None:
    after = owned_after(described("Stable", 1), NOTHING_OWNED, lambda topic: topic != "orders")
    assert after.partitions == {}


def test_what_a_stream_processor_restores_is_not_told_as_never_committed() -> None:
    """A table's changelog; a topic of changes that it consumes is told."""
    assignment = {
        "orders": [0],
        "orders-changelog": [0],
        "payments-changelog": [0],
        "orders-totals-changelog": [0],
        "changelog__orders--payments--default": [0],
    }
    member = GroupMember(member_id="m", client_id="m", host="h", assignment=assignment)
    event = described("Stable", group="orders", members=[member])
    owned = owned_after(event, NOTHING_OWNED, lambda _: True)
    assert owned.partitions.keys() == {"orders", "orders-changelog", "payments-changelog"}
