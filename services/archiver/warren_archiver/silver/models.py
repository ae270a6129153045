"""The catalogue of models of silver, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Set
from functools import cache

from warren.contracts.topics import (
    FRESHNESS,
    GROUPS,
    LAG_STATUS,
    NOTIFICATIONS,
    OFFSETS,
    TOPICS,
)

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
from warren_archiver.silver.model import Model, Reach
from warren_archiver.silver.moments import SINGLE_MS

_GROUP = ("cluster", "group")
# Between the last observations of two minutes there may be a minute more than between these.
_AROUND_MS = SINGLE_MS + 60_000

MODELS: tuple[Model, ...] = (
    Model(
        catalogue.POSITIONS,
        Reach("at", SINGLE_MS, SINGLE_MS),
        positions.fold,
        positions.rows,
        OFFSETS,
    ),
    Model(
        catalogue.PARTITION_MINUTES,
        Reach("minute", 0, SINGLE_MS),
        minutes.partition_minutes,
        sources=(catalogue.POSITIONS,),
    ),
    Model(
        catalogue.GROUP_MINUTES,
        Reach("minute", 0, SINGLE_MS),
        minutes.group_minutes,
        sources=(catalogue.PARTITION_MINUTES,),
    ),
    Model(catalogue.LOG_ENDS, Reach("minute"), minutes.fold_log_ends, minutes.log_end_rows, TOPICS),
    Model(
        catalogue.TOPIC_MINUTES,
        Reach("minute", _AROUND_MS, _AROUND_MS),
        minutes.topic_minutes,
        sources=(catalogue.LOG_ENDS,),
    ),
    Model(catalogue.LATENESS_MINUTES, Reach("minute"), lateness.fold, lateness.rows, FRESHNESS),
    Model(
        catalogue.STATUS_INTERVALS,
        Reach("from", by=_GROUP, until="until"),
        status_intervals.fold,
        status_intervals.rows,
        LAG_STATUS,
    ),
    Model(
        catalogue.NOTIFICATIONS,
        Reach("at", by=("delivery_id",)),
        notifications.fold,
        notifications.rows,
        NOTIFICATIONS,
    ),
    Model(
        catalogue.INCIDENTS,
        Reach("opened_at", by=("incident_id",)),
        incidents.incidents,
        sources=(catalogue.STATUS_INTERVALS, catalogue.NOTIFICATIONS),
        seen={catalogue.NOTIFICATIONS.name: notifications.by_incident},
    ),
    Model(
        catalogue.MEMBERSHIP_CHANGES,
        Reach("at", by=_GROUP),
        membership_changes.fold,
        membership_changes.rows,
        GROUPS,
    ),
    Model(catalogue.QUARANTINE, Reach("kafka_timestamp"), rows=catalogue.QUARANTINE.conform),
)
"""Evaluations have a way of their own: they follow from the order of all events before them."""
OF = {model.name: model for model in MODELS}
"""By the table's name."""


@cache
def events_behind(name: str) -> Set[str]:
    """Tables of events that this one follows from."""
    model = OF[name]
    if model.rows is not None:
        return frozenset((name,))
    return frozenset().union(*(events_behind(source.name) for source in model.sources))
