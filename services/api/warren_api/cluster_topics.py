"""Topics of a cluster, as far as its consumer groups show them."""

from __future__ import annotations

from collections.abc import Sequence

from warren.contracts import TopicLag

from warren_api.group_view import GroupView

UNKNOWN = -1


def topic_names(views: Sequence[GroupView]) -> list[str]:
    """Sorted names of the topics that the groups consume."""
    return sorted({topic for view in views for topic in view.event.topics})


def topic_groups(views: Sequence[GroupView], topic: str) -> list[str]:
    """Sorted names of the groups that consume a topic."""
    return sorted(view.group for view in views if topic in view.event.topics)


def log_ends(views: Sequence[GroupView], topic: str) -> list[int] | None:
    """Log end offsets by partition, UNKNOWN (-1) where nobody knows; None: no such topic.

    A log only grows, so of groups that saw different ends the last one is right; it may have become
    shorter only by being created anew.
    """
    seen = [view for view in views if topic in view.event.topics]
    if not seen:
        return None
    ends: dict[int, int] = {}
    for view in sorted(seen, key=lambda view: view.event.evaluated_at):
        ends |= _known_ends(view.event.topics[topic])
    partitions = [p for view in seen for p in view.event.topics[topic].partition]
    return [ends.get(partition, UNKNOWN) for partition in range(max(partitions) + 1)]


def _known_ends(columns: TopicLag) -> dict[int, int]:
    pairs = zip(columns.partition, columns.log_end, strict=True)
    return {partition: end for partition, end in pairs if end != UNKNOWN}
