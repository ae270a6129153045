"""Reports about groups that also tell what is live."""

from __future__ import annotations

from warren_collector.groups.live.groups import LiveGroups
from warren_collector.groups.recorded.records import Findings
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.groups.reports import GroupReport, GroupReports
from warren_collector.groups.topic_ids import TopicIds
from warren_collector.positions.index import GroupIndex


class LiveReports(GroupReports):
    """Looks at a group again when it is described otherwise than before."""

    def __init__(
        self,
        cluster: str,
        states: GroupStates,
        positions: GroupIndex,
        topic_ids: TopicIds,
        live: LiveGroups,
    ) -> None:
        super().__init__(cluster, states, positions, topic_ids, live.complete, live.knows)
        self._live = live

    def due(self, live: dict[int, int], observed_at: int, findings: Findings) -> list[GroupReport]:
        news = self._live.poll()
        self.touch(news.described)
        for group in news.sourced:
            self._states.touch(self._live.shard_of(group), group)
        return super().due(live, observed_at, findings)
