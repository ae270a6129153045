"""Each demo group shows its status within a minute, and then no other one."""

from __future__ import annotations

import pytest
from support.simulated_member import SimulatedMember
from warren_local.demo.groups import GROUPS, DemoGroup

STEADY = [group for group in GROUPS if group.again_after is None]
SETTLED = 50.0  # seconds after the first commit; the promise is 60
LONG = 900.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("group", STEADY, ids=lambda group: group.name)
def test_a_group_settles_on_its_status_and_stays(group: DemoGroup, seed: int) -> None:
    member = SimulatedMember(group, LONG, seed)
    member.run(group.behaviour)
    first = member.seen[0][0]
    bad = set() if group.partition_status == "OK" else {group.partition_status}
    settled = {(status, kinds) for at, status, kinds in member.seen if at > first + SETTLED}
    assert settled == {(group.status, frozenset(bad))}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("group", STEADY, ids=lambda group: group.name)
def test_a_group_shows_no_other_bad_status_on_the_way(group: DemoGroup, seed: int) -> None:
    member = SimulatedMember(group, SETTLED, seed)
    member.run(group.behaviour)
    assert {status for _, status, _ in member.seen} <= {"OK", group.status}


@pytest.mark.parametrize("seed", range(3))
def test_the_recovering_group_stops_and_recovers(seed: int) -> None:
    (group,) = [group for group in GROUPS if group.again_after is not None]
    away = group.again_after
    assert away is not None

    def twice(member: SimulatedMember) -> None:
        for _ in range(2):
            group.behaviour(member)  # type: ignore[arg-type]  # as Member as far as it is used
            member.stay_away(away)

    member = SimulatedMember(group, 250.0, seed)
    member.run(twice)
    changes = [status for _, status, _ in member.seen]
    distinct = [now for before, now in zip(["", *changes], changes, strict=False) if now != before]
    assert distinct[:4] == ["OK", "ERR", "OK", "ERR"]


def test_the_table_has_what_the_issue_names() -> None:
    assert {group.name: group.partition_status for group in GROUPS} == {
        "demo-healthy": "OK",
        "demo-slow": "WARN",
        "demo-stopped": "STOP",
        "demo-stalled": "STALL",
        "demo-rewound": "REWIND",
        "demo-idle": "OK",
        "demo-kip848": "OK",
        "demo-one-bad": "STALL",
        "demo-losing": "STALL",
        "demo-recovering": "OK",
    }
    assert [group.name for group in GROUPS if group.kip848] == ["demo-kip848"]
