"""The tables kept up with events: each batch changes what it touches, and nothing else.

A batch may come again, and its events late: what is computed depends on which events there are, not
on when they came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

from pyspark.sql import DataFrame, SparkSession
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

from warren_archiver.lake.contract_view import ContractView
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.lake import ensure as ensure_table
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
from warren_archiver.silver.batch import Batch, parsed
from warren_archiver.silver.moments import SINGLE_MS
from warren_archiver.silver.parts import in_parts
from warren_archiver.silver.scope import days, of_same, ranges, to_whole_minutes, widened, within
from warren_archiver.silver.table import Table
from warren_archiver.silver.upsert import upsert
from warren_archiver.steps import Step, Tell, untold

_GROUP = ("cluster", "group")
_CLUSTER = ("cluster",)
# Between the last observations of two minutes there may be a minute more than between these.
_AROUND_MS = SINGLE_MS + 60_000


# The table's own writer joins small files, once there are many.
_PROPERTIES = {"delta.autoOptimize.autoCompact": "true"}


def ensure(spark: SparkSession, lake: Lake) -> None:
    """Creates the tables, and adds the columns, that are missing."""
    for table in catalogue.TABLES:
        ensure_table(spark, lake.silver(table.name), table, _PROPERTIES)


class Silver:
    """Needs the tables, and a session that nobody else changes."""

    def __init__(self, spark: SparkSession, lake: Lake, topics: Mapping[str, Topic]) -> None:
        self._spark = spark
        self._lake = lake
        self._topics = topics
        self._views = {topic: ContractView(topic) for topic in topics.values()}
        self._written: Counter[str] = Counter()

    def take(self, events: DataFrame, tell: Tell = untold) -> dict[str, int]:
        """Takes rows of bronze in; how many rows of each table were written."""
        self._written = Counter()
        for part in in_parts(events):
            topics = {name: self._topics[name] for name in part.topics & self._topics.keys()}
            if topics:
                tell(Step("silver", f"part {part.number + 1}", part.number, part.of))
                with parsed(part.events, topics, self._views) as batch:
                    self._take(batch)
            tell(Step("silver", "", part.number + 1, part.of))
        return dict(self._written)

    def _take(self, batch: Batch) -> None:
        self._take_positions(batch)
        self._take_log_ends(batch)
        self._take_lateness(batch)
        self._take_incidents(batch)
        self._take_memberships(batch)
        if (refused := batch.refused()) is not None:
            table = catalogue.QUARANTINE
            self._put(table, table.conform(refused), self._read(table))

    def _take_positions(self, batch: Batch) -> None:
        events = batch.accepted(OFFSETS)
        if events is None:
            return
        table = catalogue.POSITIONS
        new = positions.rows(events)
        found = ranges(new, _GROUP, "at").persist()
        around = widened(found, SINGLE_MS, SINGLE_MS)
        on = days(around)
        stored = within(self._read(table, on), around, _GROUP, "at")
        touched = widened(found, 0, SINGLE_MS)
        wanted = within(positions.fold(stored.unionByName(new)), touched, _GROUP, "at")
        self._put(table, wanted, stored)
        self._take_minutes(to_whole_minutes(touched), on)
        found.unpersist()

    def _take_minutes(self, touched: DataFrame, on: Sequence[date]) -> None:
        observed = within(self._read(catalogue.POSITIONS, on), touched, _GROUP, "at")
        of_partitions, of_groups = catalogue.PARTITION_MINUTES, catalogue.GROUP_MINUTES
        stored = within(self._read(of_partitions, on), touched, _GROUP, "minute")
        self._put(of_partitions, minutes.partition_minutes(observed), stored)
        single = within(self._read(of_partitions, on), touched, _GROUP, "minute")
        stored = within(self._read(of_groups, on), touched, _GROUP, "minute")
        self._put(of_groups, minutes.group_minutes(single), stored)

    def _take_log_ends(self, batch: Batch) -> None:
        events = batch.accepted(TOPICS)
        if events is None:
            return
        table, of_topics = catalogue.LOG_ENDS, catalogue.TOPIC_MINUTES
        new = minutes.log_end_rows(events)
        found = ranges(new, _CLUSTER, "minute").persist()
        around = widened(found, _AROUND_MS, _AROUND_MS)
        on = days(around)
        stored = within(self._read(table, on), found, _CLUSTER, "minute")
        self._put(table, minutes.fold_log_ends(stored.unionByName(new)), stored)
        ends = within(self._read(table, on), around, _CLUSTER, "minute")
        touched = widened(found, 0, _AROUND_MS)
        wanted = within(minutes.topic_minutes(ends), touched, _CLUSTER, "minute")
        stored = within(self._read(of_topics, on), touched, _CLUSTER, "minute")
        self._put(of_topics, wanted, stored)
        found.unpersist()

    def _take_lateness(self, batch: Batch) -> None:
        events = batch.accepted(FRESHNESS)
        if events is None:
            return
        table, new = catalogue.LATENESS_MINUTES, lateness.rows(events).persist()
        found = ranges(new, _GROUP, "minute")
        stored = within(self._read(table, days(found)), found, _GROUP, "minute")
        self._put(table, lateness.fold(stored.unionByName(new)), stored)
        new.unpersist()

    def _take_incidents(self, batch: Batch) -> None:
        """Status changes and deliveries, and the incidents that they are about."""
        changes, deliveries = batch.accepted(LAG_STATUS), batch.accepted(NOTIFICATIONS)
        touched = []
        if changes is not None:
            table, new = catalogue.STATUS_INTERVALS, status_intervals.rows(changes)
            stored = of_same(self._read(table), new, _GROUP)
            self._put(table, status_intervals.fold(stored.unionByName(new)), stored)
            touched.append(new.select("incident_id"))
        if deliveries is not None:
            table, new = catalogue.NOTIFICATIONS, notifications.rows(deliveries)
            stored = of_same(self._read(table), new, ("delivery_id",))
            self._put(table, notifications.fold(stored.unionByName(new)), stored)
            touched.append(new.select("incident_id"))
        if not touched:
            return
        ids = touched[0] if len(touched) == 1 else touched[0].unionAll(touched[1])
        of_incident = ("incident_id",)
        wanted = incidents.incidents(
            of_same(self._read(catalogue.STATUS_INTERVALS), ids, of_incident),
            of_same(self._read(catalogue.NOTIFICATIONS), ids, of_incident),
        )
        stored = of_same(self._read(catalogue.INCIDENTS), ids, of_incident)
        self._put(catalogue.INCIDENTS, wanted, stored)

    def _take_memberships(self, batch: Batch) -> None:
        events = batch.accepted(GROUPS)
        if events is None:
            return
        table, new = catalogue.MEMBERSHIP_CHANGES, membership_changes.rows(events)
        stored = of_same(self._read(table), new, _GROUP)
        self._put(table, membership_changes.fold(stored.unionByName(new)), stored)

    def _read(self, table: Table, on: Sequence[date] | None = None) -> DataFrame:
        """All rows, or those of these days."""
        frame = self._spark.read.format("delta").load(self._lake.silver(table.name))
        return frame if on is None else frame.where(F.col("date").isin(list(on)))

    def _put(self, table: Table, wanted: DataFrame, stored: DataFrame) -> None:
        path = self._lake.silver(table.name)
        self._written[table.name] += upsert(self._spark, path, table, wanted, stored)
