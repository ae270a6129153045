"""What members of a group own: partitions that are told of though nothing is committed there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warren.contracts import GroupEvent

from warren_collector.groups.live.group import CONSUMER_TYPES
from warren_collector.positions.index import NOTHING_OWNED, Group, GroupIndex, Owned

_FINAL_STATES = ("Stable", "")
"""States in which assignments are what they shall be; in others partitions are on their way."""


def owned_after(event: GroupEvent, before: Owned, accepts: Callable[[str], bool]) -> Owned:
    """What counts once the event came. Members that have left owned what nobody has committed
    since: it is told of until others come who own something else. `accepts`: watched topics.
    """
    is_classic = event.protocol == "classic"
    if event.protocol == "share" or (is_classic and event.protocol_type not in CONSUMER_TYPES):
        return NOTHING_OWNED  # whose assignments are no committed offsets of partitions
    if not event.members:
        managed = not is_classic or bool(event.protocol_type)
        # A group with members of which none is known may own anything.
        return before._replace(by_members=False if managed and event.state != "Stable" else None)
    owned = _assigned(event, accepts)
    if event.state not in _FINAL_STATES:
        for topic, partitions in before.partitions.items():
            owned[topic] = owned.get(topic, frozenset()) | partitions
    return Owned(owned or before.partitions, True)


def _assigned(event: GroupEvent, accepts: Callable[[str], bool]) -> dict[str, frozenset[int]]:
    assigned: dict[str, frozenset[int]] = {}
    for member in event.members:
        for topic, partitions in member.assignment.items():
            if partitions and accepts(topic) and not _is_changelog(event.group, topic):
                assigned[topic] = assigned.get(topic, frozenset()).union(partitions)
    return assigned


def _is_changelog(group: str, topic: str) -> bool:
    """Whether it is of the group's own state: stream processors restore that, and commit no offset
    of it. Kafka Streams and Faust name it GROUP-STORE-changelog, Quix Streams
    changelog__GROUP--TOPIC--STORE.
    """
    is_streams = topic.startswith(f"{group}-") and topic.endswith("-changelog")
    has_store = len(topic) > len(f"{group}--changelog")
    return (is_streams and has_store) or topic.startswith(f"changelog__{group}--")


def own(groups: GroupIndex, source_partition: int, name: str, owned: Owned) -> None:
    """The group owns this now. What it does not any more, and never committed, is removed."""
    group = groups.get(source_partition, name)
    if group is None:
        if not owned.partitions:
            return
        group = groups.ensure(source_partition, name)
    if group.owned == owned:
        return
    gone = _let_go(group, owned.partitions)
    for topic, partitions in gone.items():
        group.removed.setdefault(topic, set()).update(partitions)
    if gone or owned.partitions.keys() - group.topics.keys():
        groups.dirty[group.slot] = True
    group.owned = owned


def _let_go(group: Group, partitions: Mapping[str, frozenset[int]]) -> dict[str, frozenset[int]]:
    return {
        topic: gone
        for topic, before in group.owned.partitions.items()
        if topic not in group.topics and (gone := before - partitions.get(topic, frozenset()))
    }
