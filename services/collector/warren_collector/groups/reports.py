"""What is to be published about groups: one event per group that has changed, or its end."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import structlog
from warren.contracts import MAX_MESSAGE_BYTES, GroupEvent, group_key

from warren_collector.groups.families import Families, Place
from warren_collector.groups.live.group import CONSUMER_TYPES, is_recorded
from warren_collector.groups.live.groups import LiveGroups
from warren_collector.groups.recorded.description import count_rebalances, describe
from warren_collector.groups.recorded.records import GroupRecords, Rejected
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.groups.topic_ids import TopicIds
from warren_collector.positions.columns import PositionColumns
from warren_collector.positions.index import NOTHING_OWNED, Group, GroupIndex, Owned

log = structlog.get_logger(__name__)

_FINAL_STATES = ("Stable", "")
"""States in which assignments are what they shall be; in others partitions are on their way."""

_UNKNOWN: tuple[str | None, int] = None, 0


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
    gone = {
        topic: left
        for topic, before in group.owned.partitions.items()
        if topic not in group.topics and (left := before - owned.partitions.get(topic, frozenset()))
    }
    for topic, partitions in gone.items():
        group.removed.setdefault(topic, set()).update(partitions)
    if gone or owned.partitions.keys() - group.topics.keys():
        groups.dirty[group.slot] = True
    group.owned = owned


MOST_BYTES = MAX_MESSAGE_BYTES - 64 * 2**10  # room for the key and the batch around it
_DETAILS: tuple[tuple[str, object], ...] = (("subscription", []), ("assignment", {}))


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group's event, also as the bytes that are published; None for one that is gone."""

    cluster: str
    place: Place
    event: GroupEvent | None = None
    content: bytes | None = None
    digest: bytes | None = None

    @property
    def key(self) -> bytes:
        return group_key(self.cluster, self.place[1])


class GroupReports:
    """Remembers what was published, so that only news are."""

    def __init__(
        self,
        cluster: str,
        states: GroupStates,
        positions: GroupIndex,
        topic_ids: TopicIds,
        coordinators: LiveGroups,
        accepts_topic: Callable[[str], bool] = lambda _topic: True,
    ) -> None:
        """`accepts_topic` says whether a topic is watched."""
        self._cluster = cluster
        self._accepts_topic = accepts_topic
        self._states = states
        self._positions = positions
        self._topic_ids = topic_ids
        self._coordinators = coordinators
        self._reported: dict[Place, bytes] = {}
        self._known_states: dict[Place, tuple[str | None, int]] = {}  # and how many rebalances
        self._came: dict[Place, int] = {}  # empty before: since when somebody has been there
        self._families = Families()
        self.awaits_ends = False
        """A group may be gone, and that is not reported yet: do not store the position now."""

    def __len__(self) -> int:
        """Groups that were published and are not gone."""
        return len(self._reported)

    def release(self, partitions: Iterable[int]) -> None:
        """Another collector reports the groups of these source partitions from now on."""
        released = set(partitions)
        for kept in (self._reported, self._known_states):
            for place in [place for place in kept if place[0] in released]:
                self._families.forget(place)
                del kept[place]

    def state_of(self, place: Place, columns: PositionColumns) -> str | None:
        """When it committed last, else as its newest event has it; None where nobody knows whether
        it has, or had, members.
        """
        state, _ = self._known_states.get(place, _UNKNOWN)
        group = self._positions.get(*place) if place in self._came else None
        if group is None:
            return state
        if state == "Empty":  # somebody came and went
            return None
        if (columns.committed_at[list(group.all_rows())] < self._came[place]).all():
            return "Empty"
        return state

    def saw(self, groups: Sequence[Group]) -> None:
        """These groups' positions are due: some may be new, others at their end."""
        for group in groups:
            place = group.source_partition, group.name
            if group.is_empty or place not in self._reported:
                self._states.touch(*place)

    def due(
        self, live: dict[int, int], observed_at: int, rejected: list[Rejected]
    ) -> list[GroupReport]:
        """Reports about the live source partitions; `live` has their positions.

        What has changed stays due until `published`.
        """
        self._take_news()
        self._came.clear()
        for place in self._families.take_changed() & self._reported.keys():
            self._states.touch(*place)
        self._topic_ids.refresh()
        self.awaits_ends = False
        reports = []
        for place in self._states.changed(live):
            group = self._states.get(*place)
            if group is not None:
                group.decode(rejected)
                # An upgrade deletes the group and writes it anew: perhaps the rest is not read
                # yet.
                had_head, group.is_headless = not group.is_headless, group.head() is None
                if had_head and group.is_headless:
                    self.awaits_ends = True
                    continue
            report = self._report(place, group, live[place[0]], observed_at)
            if report is not None:
                reports.append(report)
        self._topic_ids.refresh()
        return reports

    def published(self, reports: Iterable[GroupReport]) -> None:
        for report in reports:
            if report.digest is None:
                self._forget(report.place, self._states.get(*report.place))
            else:
                self._states.taken(report.place)
                self._reported[report.place] = report.digest

    def _take_news(self) -> None:
        """Groups are looked at again when they are described otherwise than before."""
        news = self._coordinators.poll()
        if news.described:
            for place in self._reported:
                if place[1] in news.described:
                    self._states.touch(*place)
        for group in news.sourced:
            self._states.touch(self._coordinators.shard_of(group), group)

    def _report(
        self, place: Place, group: GroupRecords | None, position: int, observed_at: int
    ) -> GroupReport | None:
        """None when there is nothing to say, or not yet."""
        if (group is None or group.is_headless) and not self._is_there(place):
            if place in self._reported or group is None or group.has_news:
                return GroupReport(self._cluster, place)
            self._forget(place, group)  # an earlier collector has said so
            return None
        if group is not None:
            count_rebalances(group)
        described = describe(group, self._topic_ids.name)
        if described.unnamed and self._topic_ids.want(described.topics):
            return None
        event = self._coordinators.complete(
            described.event(self._cluster, place[1], position, observed_at)
        )
        was, rebalances = self._known_states.get(place, _UNKNOWN)
        state = _told_state(event)
        self._known_states[place] = state, event.rebalances
        if was == "Empty" and rebalances < event.rebalances:
            self._came[place] = event.last_rebalance_at or 0
        known = self._positions.get(*place)
        if place not in self._reported and group is not None and group.is_new:
            self._families.came(place, observed_at)
        alike = self._families.follow(place, observed_at, is_left=state == "Empty")
        if alike is not None:
            update = dict(zip(("left_before", "left_after"), alike, strict=True))
            event = event.model_copy(update=update)
        event, content = _fitted(event)
        before = NOTHING_OWNED if known is None else known.owned
        own(self._positions, *place, owned_after(event, before, self._accepts_topic))
        # Of all but when it was seen, which comes before the protocol; no string has bare quotes.
        digest = hashlib.blake2b(content[content.index(b',"protocol":') :], digest_size=16).digest()
        if self._reported.get(place) == digest:
            self._states.taken(place)
            return None
        return GroupReport(self._cluster, place, event, content, digest)

    def _forget(self, place: Place, group: GroupRecords | None) -> None:
        self._states.taken(place)
        self._reported.pop(place, None)
        self._known_states.pop(place, None)
        self._families.forget(place)
        own(self._positions, *place, NOTHING_OWNED)
        if group is not None:
            self._states.forget(group)

    def _is_there(self, place: Place) -> bool:
        positions = self._positions.get(*place)
        return bool(positions and positions.topics) or self._coordinators.knows(place[1])


def _told_state(event: GroupEvent) -> str | None:
    """Consumers that assign partitions to themselves are no members: their group is always empty.
    What was recorded of the members is newer than what a coordinator answered.
    """
    if event.protocol == "classic" and not event.protocol_type:
        return None
    if is_recorded(event) and event.state in ("Stable", "Empty"):
        return "Stable" if event.members else "Empty"
    return event.state or None


def _fitted(event: GroupEvent) -> tuple[GroupEvent, bytes]:
    """The event, without what would make it too big for a record: one group must not stop all.

    And how it is written. Thousands of members may be subscribed to thousands of topics each.
    """
    content = event.to_bytes()
    for left_out, empty in _DETAILS:
        if len(content) <= MOST_BYTES:
            break
        log.warning(
            "group event too big", cluster=event.cluster, group=event.group, left_out=left_out
        )
        members = [member.model_copy(update={left_out: empty}) for member in event.members]
        event = event.model_copy(update={"members": members})
        content = event.to_bytes()
    return event, content
