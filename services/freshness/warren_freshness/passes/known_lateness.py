"""Since when groups are late, at the latest, by earlier passes and earlier lives of the service."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from warren.contracts import FreshnessEvent

from warren_freshness.figures.late_since import LateSince
from warren_freshness.passes.known_by_group import KnownByGroup
from warren_freshness.positions.group_positions import GroupSnapshot

Lateness = Mapping[str, Mapping[int, LateSince]]
"""By topic and partition, where anything is known."""


class KnownLateness(KnownByGroup[Lateness]):
    """Of one cluster's groups."""

    def of(self, group: GroupSnapshot) -> Lateness:
        return self._get(group) or {}

    def keep(self, group: GroupSnapshot, known: Lateness) -> None:
        """What a pass leaves to the next one."""
        of_home = self._groups[group.home_partition]
        if known:
            of_home[group.cluster, group.group] = known
        else:
            of_home.pop((group.cluster, group.group), None)

    def recall(self, home_partition: int, events: Iterable[FreshnessEvent]) -> None:
        """Begins with what was published last, by whichever instance."""
        recalled = {(event.cluster, event.group): _late(event) for event in events}
        self._groups[home_partition] = {key: late for key, late in recalled.items() if late}


def _late(event: FreshnessEvent) -> Lateness:
    late: dict[str, dict[int, LateSince]] = defaultdict(dict)
    for topic, columns in event.topics.items():
        rows = zip(
            columns.partition,
            columns.committed,
            columns.late_since,
            columns.reason,
            strict=True,
        )
        for partition, committed, since, reason in rows:
            if since is not None:
                wrong = reason == "bad_timestamp"
                late[topic][partition] = LateSince(committed, since, has_wrong_time=wrong)
    return dict(late)
