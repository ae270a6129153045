"""All that a notifier knows of a group now, from topics and settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from warren.contracts import GroupIncidentEvent
from warren.settings import Settings
from warren.silences import Silences
from warren_core.objectives.limits import Limit, ObjectiveBook

from warren_notifier.channels.as_now import Standing, ids_of
from warren_notifier.source.newest import Newest


@dataclass(frozen=True, slots=True)
class Configured:
    """What the settings say of groups and clusters: objectives, bootstrap servers by cluster."""

    limits_for: Callable[[str, str], Sequence[Limit]] = ObjectiveBook([]).limits_for
    servers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def by(cls, settings: Settings) -> Self:
        servers = {name: each.bootstrap for name, each in settings.clusters.items()}
        return cls(ObjectiveBook(settings.objectives, settings.groups).limits_for, servers)


@dataclass(frozen=True, slots=True)
class Groups:
    """Knows how each group stands."""

    newest: Newest
    silences: Silences
    configured: Configured
    now_ms: Callable[[], int]

    def standing(self, event: GroupIncidentEvent) -> Standing:
        """Of the group of an incident."""
        cluster, group = event.data.cluster, event.data.group
        silence = self.silences.in_force(self.now_ms()).of(cluster, group)
        over = [each.data.incident_id for each in event.data.was]
        causes = {each: found for each in over if (found := self.newest.cause(each)) is not None}
        said = (self.silences.acknowledgement(each) for each in ids_of(event))
        return Standing(
            self.newest.lag(cluster, group),
            self.newest.freshness(cluster, group),
            self.configured.limits_for(cluster, group),
            next(filter(None, said), None),
            None if silence is None else silence.ends_at,
            self.configured.servers.get(cluster, ""),
            causes,
        )
