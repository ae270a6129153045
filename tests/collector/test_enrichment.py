"""."""

from typing import Any

import pytest
from support.assigned_members import TWO, member
from warren.contracts import GroupEvent
from warren_api.model.membership import Membership
from warren_collector.groups.live.group import (
    LiveGroup,
    enriched,
    unowned,
)


def recorded(**fields: Any) -> GroupEvent:
    return GroupEvent(
        **{
            "cluster": "prod",
            "group": "g",
            "observed_at": 7,
            "position": 5,
            "protocol": "classic",
            "protocol_type": "consumer",
            "state": "Stable",
            "generation": 3,
            **fields,
        }
    )


ONLY_COMMITS = recorded(generation=-1, state="Empty", protocol_type="")


def test_records_know_the_members_and_the_coordinator_knows_the_rest() -> None:
    live = LiveGroup(
        "g",
        "classic",
        "consumer",
        state="Stable",
        assignor="range",
        coordinator=4,
        members=(member("older", "t"),),
        rebalances=9,
    )
    event = enriched(recorded(members=TWO, rebalances=2), live, {"t": 5})
    assert (event.coordinator, event.assignor, event.generation) == (4, "range", 3)
    assert (event.members, event.rebalances) == (TWO, 2)
    assert (event.idle_members, event.assignment_skew) == (0, 1.5)
    assert event.unowned == {"t": [4]}
    assert (event.position, event.observed_at) == (5, 7)


def test_topics_that_are_not_there_are_named() -> None:
    members = [member("a", "t", "gone", "unknown"), member("b", "away", t=[0])]
    event = enriched(recorded(members=members), None, {"t": 1, "gone": 0, "away": 0})
    assert event.absent == ["away", "gone"]
    assert Membership(event).not_judged == (
        "no offset committed yet; it subscribes to away and 1 more topic, which this cluster does "
        "not have"
    )


def test_nothing_follows_from_the_assignments_of_a_group_that_rebalances() -> None:
    live = LiveGroup("g", "classic", "consumer", state="PreparingRebalance", coordinator=1)
    event = enriched(recorded(members=TWO), live, {"t": 9})
    assert event.state == "PreparingRebalance"
    assert (event.idle_members, event.assignment_skew, event.unowned) == (None, None, {})


def test_the_state_of_newer_protocols_is_that_of_their_records() -> None:
    live = LiveGroup("g", "consumer", state="Reconciling", assignor="uniform", coordinator=1)
    event = enriched(recorded(protocol="consumer", protocol_type="", members=TWO), live, {})
    assert (event.state, event.assignor, event.idle_members) == ("Stable", "uniform", 0)


@pytest.mark.parametrize("protocol_type", ["connect", "sr"])
def test_assignments_of_others_than_consumers_are_not_counted(protocol_type: str) -> None:
    event = enriched(recorded(protocol_type=protocol_type, members=[member("a")]), None, {})
    assert (event.idle_members, event.assignment_skew) == (None, None)


def test_members_that_nobody_may_describe_are_not_counted() -> None:
    live = LiveGroup("g", "classic", "consumer", state="Stable", coordinator=2, members=None)
    event = enriched(ONLY_COMMITS, live, {})
    assert (event.state, event.coordinator, event.idle_members) == ("Stable", 2, None)


def test_unowned_partitions_are_of_subscribed_topics_whose_size_is_known() -> None:
    members = [member("a", "t", "u", "unknown", t=[0, 2]), member("b", "v", t=[3], v=[0], w=[1])]
    sizes = {"t": 5, "u": 2, "v": 1, "w": 9, "other": 3}
    assert unowned(members, sizes) == {"t": [1, 4], "u": [0, 1]}
