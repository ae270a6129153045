"""The catalogue of models of silver, in the order in which they are made."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from functools import cache

from pyspark.sql import DataFrame
from warren.contracts.topics import (
    FRESHNESS,
    GROUPS,
    LAG_STATUS,
    NOTIFICATIONS,
    OFFSETS,
    TOPICS,
    Topic,
)

from warren_archiver.lake.table import Table
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
from warren_archiver.silver.moments import SINGLE_MS

Rows = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class Reach:
    """Which rows new events may change: those that are so near in time, or belong to the same."""

    at: str
    """The table's column that has the time."""
    before_ms: int = 0
    """So much before new events is read: it is what their rows are measured from."""
    after_ms: int = 0
    """So much after them is read as well, and may be others: whole minutes."""
    by: tuple[str, ...] = ()
    """Instead: all rows that are the same in these columns, whenever they were."""
    until: str | None = None
    """Of those, none that were over by this column before the first new one."""


@dataclass(frozen=True, slots=True)
class Model:
    """A table, made of a topic's events or of other tables, by pure functions of their rows.

    `make` has the rows of each of `sources`; with a topic those of the table itself that are
    stored, new ones among them and perhaps some twice: None where each stands by itself.
    """

    table: Table
    reach: Reach
    make: Callable[..., DataFrame] | None = None
    rows: Rows | None = None
    """From events: those that the contract of `topic` accepts, or without one all that any refuses;
    what depends on other rows is null yet."""
    topic: Topic | None = None
    sources: tuple[Table, ...] = ()
    seen: Mapping[str, Rows] = field(default_factory=dict)
    """How rows of a source belong to those of this table, where one may belong to several."""

    @property
    def name(self) -> str:
        return self.table.name

    def of_source(self, name: str, rows: DataFrame) -> DataFrame:
        """Rows of that source, as `make` has them."""
        return self.seen[name](rows) if name in self.seen else rows

    def made(self, *frames: DataFrame) -> DataFrame:
        return frames[0] if self.make is None else self.make(*frames)


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
