"""What counts of a measurement: all topics, but for those that nobody is to read or that the owner
wants ignored. A group's own figures are those of the topics that count.
"""

from collections.abc import Collection

from warren.contracts import FreshnessEvent, LagEvent
from warren.contracts.reason import NOT_COUNTED

from warren_core.group_freshness import figures_of


def topics_not_counted(event: LagEvent) -> frozenset[str]:
    """Topics of an evaluation that count in no total, no ranking and no objective."""
    return frozenset(
        topic
        for topic, columns in event.topics.items()
        if any(reason in columns.reason for reason in NOT_COUNTED)
    )


def without(event: FreshnessEvent, topics: Collection[str]) -> FreshnessEvent:
    """The measurement as if the group had never read these topics."""
    kept = {topic: rows for topic, rows in event.topics.items() if topic not in topics}
    if len(kept) == len(event.topics):
        return event
    update = {
        **figures_of(kept),
        "open_transactions": [one for one in event.open_transactions if one.topic in kept],
        "topics": kept,
    }
    return event.model_copy(update=update)
