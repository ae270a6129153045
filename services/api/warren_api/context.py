"""What every route is given: settings, read model, the feed's state, the clock, who is asked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from warren.clock import Clock
from warren.contracts import Acknowledgement
from warren.contracts.topics import Topic
from warren.settings import Settings
from warren.silences import InForce
from warren_core.objectives.limits import ObjectiveBook

from warren_api.model.archive import Archive
from warren_api.model.cluster import ClusterView, FeedState
from warren_api.model.group import GroupView, Verdict
from warren_api.model.incidents import IncidentRecord, KnownIncidents
from warren_api.model.read_model import ReadModel
from warren_api.model.verdict import Doubts, doubts, group_doubts, verdict

Verdicts = Callable[[GroupView], Verdict]


Write = Callable[[Topic, bytes, bytes | None], None]
"""Makes a record of what people ask for. Raises KafkaError when that failed."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What people have said of groups, as of one moment."""

    silences: InForce
    acknowledgement: Callable[[str], Acknowledgement | None]
    """Of an incident, by its id."""
    incidents: KnownIncidents

    def acknowledgement_among(self, ids: Iterable[str]) -> Acknowledgement | None:
        """Of an incident that is known by several ids: the first that there is."""
        return next((said for id_ in ids if (said := self.acknowledgement(id_))), None)

    def acknowledged_at(self, at: int) -> list[IncidentRecord]:
        """Open incidents that were acknowledged at that time, Unix milliseconds: by one click."""
        return [
            incident
            for incident in self.incidents.by_group.values()
            if (said := self.acknowledgement_among(incident.ids)) and said.at == at
        ]

    def acknowledgement_of(self, cluster: str, group: str) -> Acknowledgement | None:
        """Of the group's open incident, by whichever of its conditions it was said."""
        incident = self.incidents.open_of(cluster, group)
        return None if incident is None else self.acknowledgement_among(incident.ids)


@dataclass(frozen=True, slots=True)
class ApiContext:
    """Shared by all requests; nothing in it is changed by one."""

    settings: Settings
    model: ReadModel
    feed_state: Callable[[], FeedState]
    clock: Clock
    write: Write
    archive: Archive

    def __post_init__(self) -> None:
        book = ObjectiveBook(self.settings.objectives, self.settings.groups)
        self.model.silences.owner_of = book.owner_of

    def notes(self) -> Notes:
        """Silences that hold at this moment, and who looks after what."""
        silences = self.model.silences
        in_force = silences.in_force(self.clock.now_ms())
        return Notes(in_force, silences.acknowledgement, self.model.incidents())

    @property
    def clusters(self) -> list[str]:
        """Configured clusters and those that events have come from, sorted."""
        return sorted({*self.settings.clusters, *self.model.clusters()})

    def servers(self, cluster: str) -> list[str]:
        """Bootstrap servers of a cluster; empty where it is not configured here."""
        settings = self.settings.clusters.get(cluster)
        return [] if settings is None else [s.strip() for s in settings.bootstrap.split(",")]

    @property
    def stale_after_ms(self) -> int:
        """Age from which an evaluation is old: silent groups are judged at every heartbeat."""
        return self._silence_ms(2)

    def _silence_ms(self, heartbeats: int) -> int:
        collector = self.settings.collector
        return round((heartbeats * collector.heartbeat + collector.interval) * 1000)

    def is_freshness_stale(self, view: GroupView) -> bool:
        """Whether a group's freshness was measured too long ago to believe it."""
        interval = round(self.settings.freshness.interval * 1000)
        return view.freshness is not None and view.freshness.is_stale(self.clock.now_ms(), interval)

    def verdicts(self) -> Verdicts:
        """What is to be believed of each group at this moment."""
        now, clusters = self.clock.now_ms(), dict[str, ClusterView]()
        feed, unknown_after = self.feed_state(), self._silence_ms(3)

        def of(view: GroupView) -> Verdict:
            cluster = clusters.get(view.cluster) or self.model.cluster(view.cluster, now)
            clusters[view.cluster] = cluster
            return verdict(view, cluster, feed, now, unknown_after)

        return of

    def doubts(self) -> Doubts:
        """Why what is served may not be how things are, one sentence each; empty when it is."""
        model, now = self.model, self.clock.now_ms()
        clusters = [model.cluster(cluster, now) for cluster in self.clusters]
        judged = model.newest_evaluations(now)
        return doubts(self.feed_state(), judged, now, self.stale_after_ms, clusters)

    def group_doubts(self, view: GroupView) -> list[str]:
        """Why what is said of a group may not be how it is; empty when it is to be believed."""
        return group_doubts(
            view,
            self.clock.now_ms(),
            self.stale_after_ms,
            is_freshness_stale=self.is_freshness_stale(view),
        )
