"""How tables of silver and gold are made, in the order in which they are made."""

from collections.abc import Set
from dataclasses import dataclass
from functools import cache

from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.contracts.topics import (
    FRESHNESS,
    GROUPS,
    INCIDENTS,
    LAG,
    NOTIFICATIONS,
    OFFSETS,
    TOPICS,
    Topic,
)

from warren_archiver.gold import catalogue as gold
from warren_archiver.lake.lake import SINGLE_MS, bounded, moment
from warren_archiver.lake.table import Table
from warren_archiver.silver import catalogue as silver

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000


@dataclass(frozen=True, slots=True)
class Model:
    """A table, made by its SQL: of a topic's events, or of other tables. One of neither has what
    contradicts its contract.

    Rows that new events may change are those near in time, by `at`: these are replaced.
    """

    layer: str
    table: Table
    at: str
    """The table's column that has the time."""
    topic: Topic | None = None
    sources: tuple[Table, ...] = ()
    before_ms: int = 0
    """So much before what is new is read: it is what rows are measured from."""
    after_ms: int = 0
    """So much after it is read as well, and may be others: whole units."""
    unit_ms: int = MINUTE_MS
    """A row is of so much time, or of a moment in it."""
    is_of_all: bool = False
    """Its SQL has all events that are so near; else the new ones, and the rows that are stored."""
    is_placed: bool = False
    """A row is an event's, and is replaced by its offset: others do not matter."""

    @property
    def name(self) -> str:
        return self.table.name


def _gold(table: Table, around_ms: int, source: Table) -> Model:
    """By the hour."""
    return Model("gold", table, "hour", None, (source,), around_ms, around_ms, HOUR_MS)


MOMENTS = {
    OFFSETS: "observed_at",
    TOPICS: "observed_at",
    FRESHNESS: "measured_at",
    INCIDENTS: "time",
    NOTIFICATIONS: "at",
    GROUPS: "observed_at",
    LAG: "evaluated_at",
}
"""When that happened which an event of the topic tells of: Unix milliseconds, or `time`."""


def happenings(topic: Topic, accepted: DataFrame) -> DataFrame:
    """Accepted events with `happened`, and with the group that they are about: of a tombstone
    when it was appended, and the key says whose it is."""
    name = MOMENTS[topic]
    if topic is INCIDENTS:
        # No tombstone is written there: one tells of nothing.
        accepted = accepted.where(~F.col("deleted"))
        own = {each: F.col(f"data.{each}") for each in ("cluster", "group")}
        return accepted.withColumns({**own, "happened": bounded(F.col(name))})
    key = F.col("kafka_key").cast("string")
    own = {"cluster": F.coalesce("cluster", F.substring_index(key, "|", 1))}
    if topic is not TOPICS:
        of_key = F.substring(key, F.instr(key, "|") + 1, F.length(key))
        own["group"] = F.coalesce("group", of_key)
    at = F.coalesce(moment(F.col(name)), "kafka_timestamp")
    return accepted.withColumns({**own, "happened": at})


INCIDENT_DAYS = 30
"""Of an incident that lasts for longer, deliveries of so many days count."""
_NEAR_MS = SINGLE_MS + MINUTE_MS  # between the ends of two minutes may lie a minute more
MODELS: tuple[Model, ...] = (
    Model(
        "silver",
        silver.PARTITION_MINUTES,
        "minute",
        OFFSETS,
        (),
        SINGLE_MS,
        SINGLE_MS,
        is_of_all=True,
    ),
    Model(
        "silver", silver.GROUP_MINUTES, "minute", None, (silver.PARTITION_MINUTES,), 0, SINGLE_MS
    ),
    Model("silver", silver.TOPIC_MINUTES, "minute", TOPICS, (), _NEAR_MS, _NEAR_MS, is_of_all=True),
    Model("silver", silver.LATENESS_MINUTES, "minute", FRESHNESS, is_of_all=True),
    Model("silver", silver.INCIDENT_CHANGES, "at", INCIDENTS, is_placed=True),
    # What is told twice comes within a day.
    Model("silver", silver.NOTIFICATIONS, "at", NOTIFICATIONS, (), DAY_MS, DAY_MS),
    Model(
        "silver",
        silver.INCIDENTS,
        "opened_at",
        None,
        (silver.INCIDENT_CHANGES, silver.NOTIFICATIONS),
    ),
    # A group's state is compared with one of the week before.
    Model("silver", silver.MEMBERSHIP_CHANGES, "at", GROUPS, (), 7 * DAY_MS, 7 * DAY_MS),
    Model("silver", silver.EVALUATIONS, "at", LAG, is_placed=True),
    Model("silver", silver.QUARANTINE, "kafka_timestamp", is_placed=True),
    # A status holds for an hour at most.
    _gold(gold.STATUS_HOURS, HOUR_MS, silver.EVALUATIONS),
    _gold(gold.RATE_HOURS, HOUR_MS, silver.GROUP_MINUTES),
    _gold(gold.LATENESS_HOURS, 0, silver.LATENESS_MINUTES),
    Model(
        "gold",
        gold.OBJECTIVE_DAYS,
        "day",
        None,
        (silver.PARTITION_MINUTES, silver.LATENESS_MINUTES),
        unit_ms=DAY_MS,
    ),
)
OF = {model.name: model for model in MODELS}
"""By the table's name."""


@cache
def behind(name: str) -> Set[str]:
    """Tables of events that this one follows from."""
    model = OF[name]
    if not model.sources:
        return frozenset((name,))
    return frozenset().union(*(behind(source.name) for source in model.sources))
