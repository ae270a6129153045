"""Topics of a cluster: those that its collector lists and those that its groups show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warren.contracts import TopicsEvent

from warren_api.model.group import GroupView

UNKNOWN = -1


class ClusterTopics:
    """`listed` is the newest event about all topics; None while there is none."""

    def __init__(self, views: Sequence[GroupView], listed: TopicsEvent | None) -> None:
        self._views = views
        self._listed = listed

    def names(self) -> list[str]:
        """Sorted; also of topics that nobody consumes."""
        names = {topic for view in self._views for topic in view.event.topics}
        return sorted(names.union(self._listed.log_ends if self._listed else ()))

    def groups(self, topic: str) -> list[str]:
        """Sorted names of the groups that consume a topic."""
        return sorted(view.group for view in self._views if topic in view.event.topics)

    def log_ends(self, topic: str) -> list[int] | None:
        """By partition, as last observed, UNKNOWN (-1) where nobody knows; None: no such topic."""
        observations = sorted(self._observations(topic), key=lambda observation: observation[0])
        if not observations:
            return None
        ends: dict[int, int] = {}
        for _, observed in observations:
            ends |= {partition: end for partition, end in observed.items() if end != UNKNOWN}
        partitions = 1 + max(max(observed, default=-1) for _, observed in observations)
        return [ends.get(partition, UNKNOWN) for partition in range(partitions)]

    def _observations(self, topic: str) -> Iterator[tuple[int, dict[int, int]]]:
        """When, and log ends by partition."""
        if self._listed and topic in self._listed.log_ends:
            yield self._listed.observed_at, dict(enumerate(self._listed.log_ends[topic]))
        for view in self._views:
            if columns := view.event.topics.get(topic):
                ends = dict(zip(columns.partition, columns.log_end, strict=True))
                yield view.event.evaluated_at, ends
