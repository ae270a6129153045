"""All tables from all events at once: what they have to be, however they came about."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import (
    FRESHNESS,
    GROUPS,
    LAG_STATUS,
    NOTIFICATIONS,
    OFFSETS,
    TOPICS,
    Topic,
)

from warren_archiver.lake.contract_view import accepted, quarantine
from warren_archiver.silver import (
    catalogue,
    incidents,
    lateness,
    membership_changes,
    minutes,
    notifications,
    positions,
    status_intervals,
)


def whole(events: DataFrame, topics: Mapping[str, Topic]) -> dict[str, DataFrame]:
    """By the tables' names; `topics` by the names that they have in `events`."""
    names = {topic: name for name, topic in topics.items()}

    def of(topic: Topic) -> DataFrame:
        return accepted(events.where(F.col("topic") == names[topic]), topic)

    observed = positions.fold(positions.rows(of(OFFSETS)))
    of_partitions = minutes.partition_minutes(observed)
    ends = minutes.fold_log_ends(minutes.log_end_rows(of(TOPICS)))
    intervals = status_intervals.fold(status_intervals.rows(of(LAG_STATUS)))
    told = notifications.fold(notifications.rows(of(NOTIFICATIONS)))
    states = membership_changes.fold(membership_changes.rows(of(GROUPS)))
    refused = catalogue.QUARANTINE.conform(quarantine(events, topics))
    return {
        catalogue.POSITIONS.name: observed,
        catalogue.PARTITION_MINUTES.name: of_partitions,
        catalogue.GROUP_MINUTES.name: minutes.group_minutes(of_partitions),
        catalogue.LOG_ENDS.name: ends,
        catalogue.TOPIC_MINUTES.name: minutes.topic_minutes(ends),
        catalogue.LATENESS_MINUTES.name: lateness.fold(lateness.rows(of(FRESHNESS))),
        catalogue.STATUS_INTERVALS.name: intervals,
        catalogue.NOTIFICATIONS.name: told,
        catalogue.INCIDENTS.name: incidents.incidents(intervals, told),
        catalogue.MEMBERSHIP_CHANGES.name: states,
        catalogue.QUARANTINE.name: refused,
    }
