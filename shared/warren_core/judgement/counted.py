"""What counts of a measurement: all topics, but for those that nobody is to read or that the owner
wants ignored. A group's own figures are those of the topics that count.
"""

from collections.abc import Collection

from warren.contracts import NOT_COUNTED, FreshnessEvent, LagEvent

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


def counted(event: FreshnessEvent, lag: LagEvent) -> FreshnessEvent:
    """The measurement as far as it counts. What was forgotten on request is measured on; of a huge
    group one part of the evaluation does not say what that is.
    """
    left_out = topics_not_counted(lag)
    forgotten = event.topics.keys() - lag.topics.keys() if lag.parts == 1 else frozenset[str]()
    return without(event, left_out | forgotten)
