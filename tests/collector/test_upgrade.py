"""A group that changes its protocol while it works, on a real broker."""

from support.collector_lab import Events, Lab
from support.group_members import Members

PARTITIONS = 4


def protocols(events: Events, group: str) -> list[str | None]:
    """What the group's events say that it is, each thing once; None for its end."""
    told = [None if e is None else e.protocol for e in events.groups.get(group, [])]
    return [one for one, before in zip(told, [*told[1:], object()], strict=True) if one != before]


def test_an_online_upgrade_ends_nothing(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    group = f"{lab.name}-group"

    def have(offset: int) -> bool:
        events.read()
        expected = {(topic, number): offset for number in range(PARTITIONS)}
        return events.committed(group) == expected

    def commit(offset: int) -> None:
        """Again and again: a partition may just be on its way from one member to another."""

        def is_told() -> bool:
            if not have(offset):
                members.commit(offset)
            return have(offset)

        members.until(is_told, f"{offset} is committed")

    def stands(protocol: str, count: int) -> bool:
        events.read()
        event = events.state(group)
        if event is None or (event.protocol, event.state) != (protocol, "Stable"):
            return False
        assigned = [p for m in event.members for p in m.assignment.get(topic, [])]
        return len(event.members) == count and sorted(assigned) == list(range(PARTITIONS))

    with lab.ready(lab.settings()):
        events, members = lab.events(), Members(lab, topic)
        old = [members.join(group), members.join(group, group_instance_id="till-1")]
        members.until(lambda: stands("classic", 2), "two classic members")
        for offset in (1, 2, 3):
            commit(offset)
        before = events.state(group)
        members.join(group, group_protocol="consumer")
        members.until(lambda: stands("consumer", 3), "the group has the new protocol")
        commit(4)
        for consumer in old:
            members.leave(consumer)
        members.join(group, group_protocol="consumer", group_instance_id="till-1")
        members.until(lambda: stands("consumer", 2), "two members of the new protocol")
        for offset in (5, 6):
            commit(offset)
        after = events.state(group)

    assert protocols(events, group) == ["classic", "consumer"]  # and nowhere an end
    assert before is not None
    assert after is not None
    assert after.generation > before.generation
    assert after.rebalances > before.rebalances
    own = events.of(group)
    assert not any(event.deleted or event.removed for event in own)
