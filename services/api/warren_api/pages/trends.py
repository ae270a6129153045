"""The past on pages: charts of groups, topics and clusters, a line in the list of groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from markupsafe import Markup
from warren.contracts import MINUTE_MS

from warren_api.model.archive import Archive
from warren_api.model.group import GroupView
from warren_api.model.incidents import IncidentRecord
from warren_api.model.past import Past
from warren_api.model.period import HOUR_MS
from warren_api.model.status_history import RecordedChange
from warren_api.model.topics import TopicIndex
from warren_api.pages.charts import sparkline
from warren_api.pages.drawn import Drawn
from warren_api.pages.long_past import LongPast
from warren_api.pages.past_charts import ClusterTrends, GroupTrends, TopicTrends, status_times
from warren_api.pages.span import Shown


class Trends:
    """What was drawn lately of whom. `archive`: None where nothing is asked of one."""

    def __init__(
        self, past: Past, archive: Archive | None = None, drawings: int = 256, sparks: int = 2_000
    ) -> None:
        self._past = past
        self._long = LongPast(past, archive)
        self._groups = Drawn[GroupTrends](drawings)
        self._topics = Drawn[TopicTrends](drawings)
        self._clusters = Drawn[ClusterTrends](drawings)
        self._sparks = Drawn[Markup](sparks)

    def group(
        self,
        cluster: str,
        group: str,
        shown: Shown,
        changes: Sequence[RecordedChange],
        incidents: Sequence[IncidentRecord] = (),
    ) -> GroupTrends:
        """`changes`, `incidents`: its own, newest first."""
        newest = changes[0].sequence if changes else 0
        still_open = tuple(each.id for each in incidents if each.is_open)
        revision = self._past.revision_of_group(cluster, group)
        version = shown.now // MINUTE_MS, revision, newest, still_open

        def draw() -> GroupTrends:
            known = self._long.group(cluster, group, shown)
            return GroupTrends(known, shown, self._past, (cluster, group), changes, incidents)

        return self._groups.get((cluster, group, *shown.key), version, draw)

    def topic(self, cluster: str, topic: str, shown: Shown) -> TopicTrends:
        version = shown.now // MINUTE_MS, self._past.revision_of_topic(cluster, topic)

        def draw() -> TopicTrends:
            return TopicTrends(self._long.topic(cluster, topic, shown), shown)

        return self._topics.get((cluster, topic, *shown.key), version, draw)

    def cluster(self, cluster: str, shown: Shown) -> ClusterTrends:
        version = shown.now // MINUTE_MS, self._past.revision_of_cluster(cluster)

        def draw() -> ClusterTrends:
            return ClusterTrends(self._long.cluster(cluster, shown), shown)

        return self._clusters.get((cluster, *shown.key), version, draw)

    def spark(self, cluster: str, group: str, now: int) -> Markup:
        """The last hour of a group, small."""
        version = now // MINUTE_MS, self._past.revision_of_group(cluster, group)
        draw = partial(_spark, self._past, cluster, group, now)
        return self._sparks.get((cluster, group), version, draw)


def _spark(past: Past, cluster: str, group: str, now: int) -> Markup:
    end = now - now % MINUTE_MS
    hour = past.group(cluster, group, end - HOUR_MS, end, MINUTE_MS)
    if all(lag is None for lag in hour["lag"]):
        return Markup("")
    times = status_times(hour, [HOUR_MS])
    return sparkline("Late, last hour:", hour["late_ms"], times, MINUTE_MS)


def rates_of(topics: TopicIndex, view: GroupView) -> tuple[float, float] | None:
    """Records a second that are produced into what the group consumes, and that it consumes."""
    known = [
        (progress.produce_rate, progress.consume_rate)
        for progress in topics.progress(view.cluster, view.group).values()
    ]
    moved = [(made, taken) for made, taken in known if made is not None and taken is not None]
    if not moved or len(moved) < len(known):
        return None
    return sum(made for made, _ in moved), sum(taken for _, taken in moved)
