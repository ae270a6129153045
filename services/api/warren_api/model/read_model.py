"""What the API serves: what is newest of every group, and the last status changes, in memory.

Fed by one thread, read by many: views are immutable and replaced whole under a lock.
"""

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from warren.contracts import (
    STATUS_CHANGED,
    ClusterEvent,
    FreshnessEvent,
    GroupEvent,
    LagEvent,
    Status,
    StatusChangeEvent,
    TopicsEvent,
    split_group_key,
    whole_key,
)
from warren.silences import Silences
from warren.words import LATEST_MOMENT
from warren_core.clocks import require_past
from warren_core.judgement.counted import topics_not_counted

from warren_api.model.cluster import ClusterView
from warren_api.model.freshness import GroupFreshness
from warren_api.model.group import BrokenObjective, GroupView, StatusSince
from warren_api.model.group_views import GroupName, GroupViews, LagParts
from warren_api.model.incidents import IncidentLog, KnownIncidents
from warren_api.model.membership import Membership
from warren_api.model.notifications import Notifications
from warren_api.model.past import Past
from warren_api.model.status_history import StatusHistory
from warren_api.model.topics import TopicIndex

HISTORY = 10_000  # status changes kept in memory, of all groups: history, incidents, event streams


@dataclass(frozen=True, slots=True)
class ReadModelSize:
    """How much is held."""

    groups: int
    partitions: int


class ReadModel:
    """Groups by (cluster, group); `topics` by theirs; `history` of at most so many changes;
    `silences` and acknowledgements; `notifications`, likewise bounded; the `past` of a day.
    """

    def __init__(
        self, history: int = HISTORY, now_ms: Callable[[], int] = lambda: LATEST_MOMENT
    ) -> None:
        self._now_ms = now_ms
        self.history = StatusHistory(history)
        self.topics = TopicIndex(self.groups)
        self.past = Past()
        self.silences = Silences()
        self.notifications = Notifications(history)
        self._lock = threading.Lock()
        self._parts = LagParts()
        self._views = GroupViews()
        self._changes: dict[GroupName, StatusSince] = {}
        self._broken: dict[GroupName, tuple[BrokenObjective, ...]] = {}
        self._freshness: dict[GroupName, GroupFreshness] = {}
        self._clusters: dict[GroupName, ClusterEvent] = {}  # by cluster and collector
        self._members: dict[GroupName, Membership] = {}
        self._topics: dict[str, TopicsEvent] = {}
        self.states = 0
        """Another one whenever a group's status or incident may be, or whether it loses data, or a
        cluster's state.
        """
        self._incident_log = IncidentLog(history)
        self._incidents: tuple[tuple[int, int], KnownIncidents] | None = None
        self._not_judged: tuple[Membership, ...] | None = ()

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.lag`; a tombstone removes the group.

        Raises ContractViolation, and keeps what it has, when the record is not a LagEvent.
        """
        name = split_group_key(whole_key(key))
        if value is None:
            self._parts.forget(name)
            if whole_key(key) != key:
                return
            event = None
        else:
            event = self._parts.whole(LagEvent.from_record(key, value))
            if event is None:
                return  # more of its parts are to come
        with self._lock:
            if event is None:
                self._views.remove(name)
                self._changes.pop(name, None)
                self._freshness.pop(name, None)
                if name in self._members:
                    self._members[name] = replace(self._members[name], had_offsets=True)
                self._not_judged = None
                self.states += 1
            else:
                if name not in self._views:
                    self._not_judged = None
                self._put(name, event)

    def apply_members(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.groups`; a tombstone removes what was known of members.

        Raises ContractViolation, and keeps what it has, when the record is not a GroupEvent.
        """
        name = split_group_key(key)
        event = None if value is None else GroupEvent.from_record(key, value)
        if event is not None:
            require_past("observed_at", event.observed_at, self._now_ms())
        with self._lock:
            if event is None:
                self._members.pop(name, None)
            else:
                before = self._members.get(name)
                self._members[name] = Membership(event, before is not None and before.had_offsets)
            if name not in self._views:
                self._not_judged = None
            self._refresh(name)

    def apply_freshness(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.freshness`; a tombstone removes what was measured.

        Raises ContractViolation, and keeps what it has, when the record is not a FreshnessEvent.
        """
        name = split_group_key(key)
        event = None if value is None else FreshnessEvent.from_record(key, value)
        if event is not None:
            require_past("measured_at", event.measured_at, self._now_ms())
        with self._lock:
            last = self._freshness.pop(name, None)
            if event is not None:
                self._freshness[name] = last.followed_by(event) if last else GroupFreshness(event)
            self._refresh(name)

    def apply_status_change(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.lag-status`: since when a group has its status.

        Raises ContractViolation when the record is not a status-change event.
        """
        name = split_group_key(key)
        if value is None:
            return
        change = StatusChangeEvent.from_record(key, value)
        if change.type != STATUS_CHANGED:
            return
        since = StatusSince(change.data.status, round(change.time.timestamp() * 1000))
        with self._lock:
            if since.status == "NOTFOUND":
                self._changes.pop(name, None)
                return
            self._changes[name] = since
            self.states += 1
            self._refresh(name)

    def apply_incident(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.incidents`: it has the objectives that a group does not keep.

        Raises ContractViolation when the record is not an incident's event.
        """
        if value is None:
            return
        if (data := self._incident_log.take(key, value)) is None:
            return
        broken = [
            BrokenObjective(each.incident_id, breach, each.changed_at, each.type)
            for each in data.open
            for breach in each.change.objectives or ()
        ]
        name = data.cluster, data.group
        with self._lock:
            if broken:
                self._broken[name] = tuple(
                    sorted(broken, key=lambda one: -Status[one.breach.status])
                )
            elif self._broken.pop(name, None) is None:
                return
            self.states += 1
            self._refresh(name)

    def apply_cluster(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.clusters`; a tombstone: the collector has stopped.

        Raises ContractViolation, and keeps what it has, when the record is not a ClusterEvent.
        """
        name = split_group_key(key)
        event = None if value is None else ClusterEvent.from_record(key, value)
        with self._lock:
            before = self._clusters.pop(name, None)
            if before is None or event is None or before.state != event.state:
                self.states += 1
            if event is not None:
                self._clusters[name] = event

    def cluster(self, cluster: str, now: int) -> ClusterView:
        """How it stands with a cluster. `now`: Unix milliseconds."""
        with self._lock:
            events = [e for (name, _), e in self._clusters.items() if name == cluster]
        return ClusterView.of(cluster, events, now)

    def apply_topics(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.topics`; a tombstone removes what is known of the cluster.

        Raises ContractViolation when the record is not a TopicsEvent.
        """
        if value is None:
            gone = (key or b"").decode(errors="replace")
            self._topics.pop(gone, None)
            self.topics.unlist(gone)
            return
        event = TopicsEvent.from_record(key, value)
        self._topics[event.cluster] = event
        self.topics.list_all(event)

    def _refresh(self, name: GroupName) -> None:
        """Puts what is known beside the evaluation into the group's view. Needs the lock."""
        if view := self._views.get(name):
            self._put(name, view.event)

    def _put(self, name: GroupName, event: LagEvent) -> None:
        measured = self._freshness.get(name)
        if measured is not None:  # what was forgotten on request is measured on
            measured = measured.without(measured.event.topics.keys() - event.topics.keys())
        view = GroupView(
            event,
            self._changes.get(name),
            measured and measured.without(topics_not_counted(event)),
            self._members.get(name),
            self._broken.get(name, ()),
            measured,
        )
        self.states += self._views.put(name, view)

    def keep_only(
        self,
        judged: Collection[GroupName],
        measured: Collection[GroupName],
        described: Collection[GroupName] = (),
        in_trouble: Collection[GroupName] = (),
    ) -> None:
        """Drops what a complete reading of the topics did not show."""
        self._incident_log.keep_only(in_trouble)
        with self._lock:
            self._not_judged = None
            self.states += 1
            for name in self._views.names - set(judged):
                self._views.remove(name)
            for name in self._freshness.keys() - set(measured):
                del self._freshness[name]
                self._refresh(name)
            for name in self._members.keys() - set(described):
                del self._members[name]
                self._refresh(name)

    def group(self, cluster: str, group: str) -> GroupView | None:
        return self._views.get((cluster, group))

    def groups(self) -> tuple[GroupView, ...]:
        """All groups, worst first."""
        with self._lock:
            return self._views.ranked()

    def incidents(self) -> KnownIncidents:
        """Of groups, folded once for each state, whoever asks."""
        state = self.history.sequence, self._incident_log.sequence
        if self._incidents is None or self._incidents[0] != state:
            known = KnownIncidents.of(self._incident_log.all(), self.history.changes())
            self._incidents = state, known
        return self._incidents[1]

    def unjudged(self, cluster: str, group: str) -> Membership | None:
        """A group that is there but has no verdict."""
        membership = self._members.get((cluster, group))
        return membership if membership and membership.is_listed else None

    def not_judged(self) -> tuple[Membership, ...]:
        """Groups that have no verdict but are there, by name: above all share groups."""
        with self._lock:
            if self._not_judged is None:
                self._not_judged = tuple(
                    self._members[name]
                    for name in sorted(self._members.keys() - self._views.names)
                    if self._members[name].is_listed
                )
            return self._not_judged

    def views_of(self, cluster: str) -> list[GroupView]:
        """A cluster's groups, worst first."""
        return [view for view in self.groups() if view.cluster == cluster]

    def groups_of(self, cluster: str) -> list[str]:
        """Names of a cluster's groups, sorted."""
        return sorted(view.group for view in self.views_of(cluster))

    def clusters(self) -> set[str]:
        """Clusters that have a group, topics or a collector."""
        with self._lock:
            judged = {view.cluster for view in self._views}
            return judged | {cluster for cluster, _ in self._clusters} | set(self._topics)

    def newest_evaluations(self, now: int) -> dict[str, int]:
        """When a group of each cluster was judged nearest to `now`, both Unix milliseconds: a clock
        that is ahead does not hide that no other one goes.
        """
        nearest = dict[str, int]()
        with self._lock:
            for event in (view.event for view in self._views):
                apart = abs(now - event.evaluated_at)
                if apart < abs(now - nearest.get(event.cluster, -now)):
                    nearest[event.cluster] = event.evaluated_at
        return nearest

    def listed_topics(self) -> list[TopicsEvent]:
        """Of each cluster the newest list of all its topics."""
        return list(self._topics.values())

    def size(self) -> ReadModelSize:
        views = self.groups()
        return ReadModelSize(len(views), sum(view.partition_count for view in views))
