"""The models of silver made both ways: kept up with batches of events, and of all events at once.

A batch changes what it touches, and nothing else. It may come again, and its events late: what is
computed depends on which events there are, not on when they came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from warren.contracts.topics import Topic

from warren_archiver.amount import FEW_EVENTS, fit
from warren_archiver.lake.contract_view import ContractView
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.lake import ensure as ensure_table
from warren_archiver.lake.table import Table
from warren_archiver.silver import catalogue
from warren_archiver.silver.batch import Batch, all_rows, in_parts, parsed
from warren_archiver.silver.model import Model
from warren_archiver.silver.models import MODELS, OF, events_behind
from warren_archiver.silver.scope import Times, of_same
from warren_archiver.silver.upsert import upsert
from warren_archiver.steps import Step, Tell, untold

# The table's own writer joins small files, once there are many.
_PROPERTIES = {"delta.autoOptimize.autoCompact": "true"}


def ensure(spark: SparkSession, lake: Lake) -> None:
    """Creates the tables, and adds the columns, that are missing."""
    for table in catalogue.TABLES:
        ensure_table(spark, lake.silver(table.name), table, _PROPERTIES)


def whole(events: DataFrame, topics: Mapping[str, Topic]) -> dict[str, DataFrame]:
    """All tables from all events at once: what they have to be, however they came about. By the
    tables' names; `topics` by the names that they have in `events`."""
    rows, made = all_rows(events, topics), dict[str, DataFrame]()
    for model in MODELS:
        if events_behind(model.name) <= rows.keys():
            if model.rows:
                of = [rows[model.name]]
            else:
                of = [model.of_source(each.name, made[each.name]) for each in model.sources]
            made[model.name] = model.made(*of)
    return made


class Silver:
    """Needs the tables, and a session that nobody else changes."""

    def __init__(self, spark: SparkSession, lake: Lake, topics: Mapping[str, Topic]) -> None:
        self._spark = spark
        self._lake = lake
        self._topics = topics
        self._views = {topic: ContractView(topic) for topic in topics.values()}

    def take(self, events: DataFrame, tell: Tell = untold) -> dict[str, int]:
        """Takes rows of bronze in; how many rows of each table were written."""
        written: Counter[str] = Counter()
        for part in in_parts(events):
            fit(self._spark, little=part.rows <= FEW_EVENTS)
            topics = {name: self._topics[name] for name in part.topics & self._topics.keys()}
            if topics:
                tell(Step("silver", f"part {part.number + 1}", part.number, part.of))
                with parsed(part.events, topics, self._views) as batch:
                    for model in MODELS:
                        if roots := events_behind(model.name) & batch.rows.keys():
                            written[model.name] += self._make(model, batch, sorted(roots))
            tell(Step("silver", "", part.number + 1, part.of))
        return dict(written)

    def _make(self, model: Model, batch: Batch, roots: list[str]) -> int:
        """`roots`: tables of events that it follows from, and that there are new rows of."""
        reach, table = model.reach, model.table
        times = Times.of(each for root in roots for each in batch.times[root].ranges)
        around = times.widened(reach.before_ms, reach.after_ms)
        touched = times.widened(0, reach.after_ms)

        def near(rows: DataFrame, at: str, when: Times) -> DataFrame:
            if not reach.by:
                return when.within(rows, at)
            new = (model.of_source(root, batch.rows[root]) for root in roots)
            keys = reduce(DataFrame.unionAll, (each.select(*reach.by) for each in new))
            if reach.until is not None:
                first = F.timestamp_micros(F.lit(times.ranges[0][0]))
                until = F.col(reach.until)
                rows = rows.where(until.isNull() | (until >= first))
            return of_same(rows, keys)

        if model.rows is None:
            sources = [
                near(model.of_source(s.name, self._read(s)), OF[s.name].reach.at, around)
                for s in model.sources
            ]
            stored = near(self._read(table), reach.at, touched)
            wanted = model.made(*sources)
        else:
            new = batch.rows[model.name]
            stored = near(self._read(table), reach.at, around)
            wanted = new if model.make is None else model.make(stored.unionByName(new))
        if not reach.by:
            wanted = touched.within(wanted, reach.at)
        return upsert(self._spark, self._lake.silver(table.name), table, wanted, stored)

    def _read(self, table: Table) -> DataFrame:
        return self._spark.read.format("delta").load(self._lake.silver(table.name))
