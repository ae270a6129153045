"""What every route is given: settings, the read model, the feed's state, the clock, forgetting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from warren.clock import Clock
from warren.settings import Settings

from warren_api.model.doubts import doubts, group_doubts
from warren_api.model.feed_state import FeedState
from warren_api.model.group import GroupView
from warren_api.model.read_model import ReadModel


class Forget(Protocol):
    """Asks the evaluators to forget a group, or topics of it."""

    def __call__(self, cluster: str, group: str, topics: list[str], until: int) -> None:
        """What was committed up to `until` (Unix milliseconds); no topics are all of them.

        Raises KafkaError when the request did not get through.
        """


@dataclass(frozen=True, slots=True)
class ApiContext:
    """Shared by all requests; nothing in it is changed by one."""

    settings: Settings
    model: ReadModel
    feed_state: Callable[[], FeedState]
    clock: Clock
    forget: Forget

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
        collector = self.settings.collector
        return round((2 * collector.heartbeat + collector.interval) * 1000)

    def is_freshness_stale(self, view: GroupView) -> bool:
        """Whether a group's freshness was measured too long ago to believe it."""
        interval = round(self.settings.freshness.interval * 1000)
        return view.freshness is not None and view.freshness.is_stale(self.clock.now_ms(), interval)

    def doubts(self) -> list[str]:
        """Why what is served may not be how things are, one sentence each; empty when it is."""
        newest = max((v.event.evaluated_at for v in self.model.groups()), default=None)
        now = self.clock.now_ms()
        clusters = [self.model.cluster(cluster, now) for cluster in self.clusters]
        return doubts(self.feed_state(), newest, now, self.stale_after_ms, clusters)

    def group_doubts(self, view: GroupView) -> list[str]:
        """Why what is said of a group may not be how it is; empty when it is to be believed."""
        return group_doubts(
            view,
            self.clock.now_ms(),
            self.stale_after_ms,
            is_freshness_stale=self.is_freshness_stale(view),
        )
