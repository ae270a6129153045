"""Causes that lie with a group's members."""

import pytest
from support.group_looks import (
    STEP,
    WELL,
    group_event,
    looks,
    silent,
    told,
    well,
)
from support.offset_events import NOW
from warren.contracts import GroupEvent
from warren_core.evaluation import GroupRules, Rules


def test_nobody_is_in_the_group() -> None:
    cause = told(looks(silent(), silent()), group_event(0, [0], [1]), group_event(WELL + 1))
    assert cause.name == "no_members"
    assert cause.sentence == "No members for 2m 10s; the last was client-0 at h0"
    assert cause.evidence.model_dump() == {
        "since": NOW + (WELL + 1) * STEP,
        "client_id": "client-0",
        "host": "h0",
        "members": 0,
    }


def test_a_host_is_named_as_people_know_it() -> None:
    event = group_event(0, [0], [1])
    java = [each.model_copy(update={"host": f"/{each.host}"}) for each in event.members]
    event = event.model_copy(update={"members": java})
    cause = told(looks(silent(), silent()), event, group_event(WELL + 1))
    assert cause.sentence.endswith("; the last was client-0 at h0")
    assert cause.evidence.host == "/h0", "as Kafka has it"


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([], id="nothing is known of its members"),
        pytest.param([group_event(0, [0], [1])], id="they are there and hang"),
        pytest.param([group_event(0, protocol_type="")], id="they never were in the group"),
    ],
)
def test_silence_alone_has_no_known_cause(groups: list[GroupEvent]) -> None:
    cause = told(looks(silent(), silent()), *groups)
    assert (cause.name, cause.is_known) == ("unknown", False)
    assert cause.action == "Check that its consumers run, and what they log"


def test_a_rebalance_that_is_never_over() -> None:
    """Each is cut short by the next member that is killed: its generation stays the same."""
    rules = GroupRules(Rules(policy="progress"))
    events = [
        event.model_copy(update={"group_state": "Stable" if look <= WELL else "PreparingRebalance"})
        for look, event in enumerate(looks(silent(WELL + 90)))
    ]
    cause = told(iter(events), group_event(0, [0]), rules=rules)
    assert cause.name == "rebalance_loop"
    assert "Rebalancing for at least 5m without an end" in cause.sentence
    over = events[-1].model_copy(update={"group_state": "Stable"})
    assert told(iter([*events[:-1], over]), group_event(0, [0]), rules=rules).name == "unknown"


def test_who_comes_and_goes_between_two_looks_is_no_nobody() -> None:
    """A supervisor starts what ends at each record: at every look the group is empty."""
    before = [group_event(0, [0]), group_event(WELL + 1, rebalances=1)]
    loop = [group_event(WELL + 1 + 3 * n, rebalances=1 + 2 * n) for n in range(1, 9)]
    assert told(looks(silent()), *before).name == "no_members"
    assert told(looks(silent(38)), *before, *loop).name == "rebalance_loop"
    over = told(looks(silent(48)), *before, *loop)
    assert (over.name, over.evidence.since) == ("no_members", NOW + (WELL + 25) * STEP)


def test_members_that_are_gone_are_not_counted_by_an_older_look() -> None:
    """Members are looked at apart from offsets; the event of these has the group's state, too."""
    before = group_event(0, [0])
    events = [
        event.model_copy(update={"group_state": "Empty" if look > 37 else "Stable"})
        for look, event in enumerate(looks(silent()))
    ]
    assert "; no members any more" in told(iter(events), before).sentence
    assert "; 1 member" in told(iter(events[:37]), before).sentence


def test_a_group_that_never_had_members_is_said_to_have_none() -> None:
    cause = told(looks(silent(), silent()), group_event(0, protocol_type=""))
    assert "; no members: its consumers assign partitions to themselves" in cause.sentence
    assert "; 2 members" in told(looks(silent(), silent()), group_event(0, [0], [1])).sentence


def test_all_that_is_bad_belongs_to_one_member() -> None:
    lives = silent(), silent(), well(), well()
    cause = told(looks(*lives), group_event(0, [0, 1], [2, 3]))
    assert cause.name == "one_member"
    assert (
        "Member client-0 at h0 stands still on orders/0 and 1 more; the other member keeps up"
        in cause.sentence
    )
    halves = told(looks(*(silent(), silent(), well(), well())), group_event(0, [0, 2], [1, 3]))
    assert halves.name == "unknown"


def test_partitions_that_nobody_owns() -> None:
    groups = group_event(0, [0, 1]), group_event(WELL, [0], unowned={"orders": [1]})
    cause = told(looks(well(), silent()), *groups)
    assert (cause.name, cause.evidence.partition) == ("unowned_partitions", 1)
    assert told(looks(silent(), silent()), *groups).name == "unknown"


def test_partitions_that_nobody_misses_have_no_owner() -> None:
    """Nobody is subscribed to their topic any more."""
    cause = told(looks(well(), silent()), group_event(0, [0, 1]), group_event(WELL, [0]))
    assert (cause.name, cause.evidence.partition) == ("unowned_partitions", 1)


def test_rebalances_again_and_again() -> None:
    groups = [group_event(n, [0, 1], rebalances=n // 4) for n in range(0, 40, 4)]
    cause = told(looks(silent(), silent()), *groups)
    assert (cause.name, cause.evidence.times) == ("rebalance_loop", 9)
    assert told(looks(silent(), silent()), group_event(0, [0, 1], rebalances=99)).name == "unknown"
