"""Tables of silver and gold kept up with events.

Events change what they touch, and nothing else: what is near in time is made anew, and replaced.
They may come again, and late: what is made depends on which events there are, not on when they
came. So whoever is killed amid it begins anew.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from typing import NamedTuple

from pyspark.sql import (
    DataFrame,
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.clock import Clock
from warren.contracts.topics import Topic
from warren.settings import Settings
from warren.words import moment

from warren_archiver.amount import FEW_EVENTS, fit
from warren_archiver.dialect import for_spark, sql
from warren_archiver.gold import catalogue as gold
from warren_archiver.gold.conventions import GROWTH, longest_ms
from warren_archiver.gold.limits import LIMITS, limits_of
from warren_archiver.lake.contract_view import ContractView
from warren_archiver.lake.lake import (
    EARLIEST,
    LATEST_MS,
    SINGLE_MS,
    Lake,
    ensure as ensure_table,
    rows_written,
    text,
)
from warren_archiver.lake.table import Kept, Table
from warren_archiver.refining.models import (
    DAY_MS,
    INCIDENT_DAYS,
    MODELS,
    OF,
    Model,
    behind,
    happenings,
)
from warren_archiver.refining.parts import Part, in_parts, within
from warren_archiver.refining.times import Times, times_of
from warren_archiver.silver import catalogue as silver
from warren_archiver.steps import Step, Tell, untold


class Taken(NamedTuple):
    """Rows that were written, by table; by table of events, when the newest one happened, Unix
    milliseconds."""

    written: dict[str, int]
    newest: dict[str, int]


@dataclass(frozen=True)
class Batch:
    """By the names of tables of events, only those that there is something new of."""

    part: Part
    events: Mapping[str, DataFrame]
    """As SQL has them; of the last, what is refused."""
    times: Mapping[str, Times]
    """When they happened."""
    appended: Mapping[str, Times]
    """When others were appended that are as near."""
    made: dict[str, DataFrame]


def ensure(spark: SparkSession, lake: Lake) -> None:
    """Creates the tables, and adds the columns, that are missing."""
    for layer, catalogue in (("silver", silver), ("gold", gold)):
        for table in catalogue.TABLES:
            ensure_table(spark, lake.path(layer, table.name), table)


class Refinery:
    """Needs the tables, and a session that nobody else changes."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        settings: Settings,
        topics: Mapping[str, Topic],
        clock: Clock,
    ) -> None:
        """`topics` by the names that they have in the table of events."""
        self._spark = spark
        self._lake = lake
        self._settings = settings
        self._topics = topics
        self._clock = clock
        self._views = {topic: ContractView(topic) for topic in topics.values()}
        self._values = values(settings)
        self._little = True

    def take(self, events: DataFrame, tell: Tell = untold) -> Taken:
        """Takes rows of bronze in."""
        written: Counter[str] = Counter()
        newest: dict[str, int] = {}
        for part in in_parts(events):
            self._little = part.rows <= FEW_EVENTS
            fit(self._spark, little=self._little)
            if not {each.topic for each in part.spans} & self._topics.keys():
                continue
            with self._parsed(part) as batch:
                for model in self._models(batch):
                    tell(Step("refining", model.name, part.number, part.of))
                    written[model.name] += self._make(model, batch)
                for name, times in batch.times.items():
                    newest[name] = max(newest.get(name, 0), times.ranges[-1][1] // 1000)
            tell(Step("refining", "", part.number + 1, part.of))
        return Taken(dict(written), newest)

    @contextmanager
    def _parsed(self, part: Part) -> Iterator[Batch]:
        """Rows of bronze while they are at hand, parsed once however many tables are made of
        them."""
        names = {each.topic for each in part.spans} & self._topics.keys()
        part.events.persist()
        parsed = {self._topics[name]: self._parse(part.events, name).persist() for name in names}
        found = {
            model.name: self._accepted(model.topic, frame)
            for model in MODELS
            if model.topic is not None and (frame := parsed.get(model.topic)) is not None
        }
        refused = (self._views[topic].refused(frame) for topic, frame in parsed.items())
        every = reduce(DataFrame.unionAll, refused)
        found[silver.QUARANTINE.name] = every.withColumn("happened", F.col("kafka_timestamp"))
        made: dict[str, DataFrame] = {}
        try:
            yield Batch(part, found, *times_of(found), made)
        finally:
            for frame in (*parsed.values(), part.events, *made.values()):
                frame.unpersist()

    def _parse(self, events: DataFrame, name: str) -> DataFrame:
        return self._views[self._topics[name]].parse(events.where(F.col("topic") == name))

    def _accepted(self, topic: Topic, parsed: DataFrame) -> DataFrame:
        return happenings(topic, self._views[topic].accepted(parsed))

    def _models(self, batch: Batch) -> list[Model]:
        """Those that there is something new for."""
        asked = self._settings.objectives
        return [
            model
            for model in MODELS
            if behind(model.name) & batch.times.keys()
            and (asked or model.table is not gold.OBJECTIVE_DAYS)
        ]

    def _make(self, model: Model, batch: Batch) -> int:
        """How many rows of a table were written."""
        if model.is_placed:
            return self._add(model, batch)
        if model.table is silver.INCIDENTS:
            return self._make_incidents(model, batch)
        roots = behind(model.name) & batch.times.keys()
        times = Times.of(each for root in roots for each in batch.times[root].ranges)
        if model.layer == "gold":
            times = times.since(max(map(self._first_kept, model.sources)))
        if not times.ranges:
            return 0
        around = times.widened(model.before_ms, model.after_ms, model.unit_ms)
        touched = times.widened(0, model.after_ms, model.unit_ms).condition(model.at)
        frames: Mapping[str, DataFrame]
        if model.table is silver.GROUP_MINUTES:  # made of the minutes that were just made
            frames = batch.made
        elif model.topic is None:
            frames = {each.name: self._near(OF[each.name], around) for each in model.sources}
        elif model.is_of_all:
            frames = {"events": self._all_near(model, batch)}
        else:
            frames = {"events": batch.events[model.name], "stored": self._near(model, around)}
        made = self._made(model, frames).where(touched)
        if model.table is silver.PARTITION_MINUTES:
            batch.made[model.name] = made = made.persist()
        return self._replace(model, made, touched)

    def _add(self, model: Model, batch: Batch) -> int:
        """Rows that each have the offset of their event."""
        events = batch.events[model.name]
        spans = [
            each for each in batch.part.spans if model.topic in (None, self._topics.get(each.topic))
        ]
        on_days = batch.times[model.name].widened(0, 0).on_days
        if model.topic is None:
            made = model.table.conform(events)
        else:
            made = self._made(model, {"events": events})
        batch.made[model.name] = made
        return self._replace(model, made, f"{on_days} AND ({within(spans, 'kafka_')})")

    def _make_incidents(self, model: Model, batch: Batch) -> int:
        """Those that new events are about: by their ids, in the days in which they may have begun.
        Of deliveries those since the first of them began are read."""
        changes = batch.made.get(silver.INCIDENT_CHANGES.name)
        if changes is None:
            changes = self._spark.createDataFrame([], silver.INCIDENT_CHANGES.schema)
        new = _begun(changes)
        ids, near = {row[0] for row in new}, [(row[1], row[1]) for row in new]
        roots = behind(model.name) & batch.times.keys()
        times = Times.of(each for root in roots for each in batch.times[root].ranges)
        times = times.widened(INCIDENT_DAYS * DAY_MS, DAY_MS)
        if (delivered := batch.events.get(silver.NOTIFICATIONS.name)) is not None:
            ids |= {row[0] for row in delivered.select("incident_id").distinct().collect()}
            near += times.ranges
        if not ids:
            return 0
        about = f"incident_id IN ({', '.join(map(text, sorted(ids)))})"
        stored = self._near(model, Times.of(near)).where(about)
        begun = [(row[1], row[1]) for row in (*new, *_begun(stored))]
        if not begun:
            return 0
        first = max(min(begun)[0] - DAY_MS * 1000, times.ranges[0][0])
        since = EARLIEST + timedelta(microseconds=first)
        sent = self._stored(OF[silver.NOTIFICATIONS.name])
        frames = {
            silver.INCIDENT_CHANGES.name: changes,
            silver.NOTIFICATIONS.name: sent.where(F.col("date") >= since.date()).where(about),
            "stored": stored,
        }
        condition = f"{Times.of(begun).on_days} AND {about}"
        return self._replace(model, self._made(model, frames), condition)

    def _all_near(self, model: Model, batch: Batch) -> DataFrame:
        """Events of the table's topic, new and older ones, that are near the new ones."""
        assert model.topic is not None
        (name,) = (each for each, topic in self._topics.items() if topic is model.topic)
        appended = batch.appended[model.name].widened(
            model.before_ms + model.unit_ms, model.after_ms + model.unit_ms
        )
        own = (each for each in batch.part.spans if each.topic == name)
        stored = self._spark.read.format("delta").load(self._lake.events)
        older = stored.where(appended.condition("timestamp")).where(f"NOT ({within(own)})")
        return batch.events[model.name].unionByName(
            self._accepted(model.topic, self._parse(older, name))
        )

    def _made(self, model: Model, frames: Mapping[str, DataFrame]) -> DataFrame:
        """Rows of a table by its SQL."""
        views = dict(frames)
        if model.table is gold.OBJECTIVE_DAYS:
            asked = limits_of(_topics(frames.values()), self._settings.objectives)
            views["limits"] = self._spark.createDataFrame(asked, LIMITS)
        for name, frame in views.items():
            frame.createOrReplaceTempView(name)
        made = self._spark.sql(for_spark(sql(model.layer, model.name, self._values)))
        for name in views:
            self._spark.catalog.dropTempView(name)
        return model.table.conform(made)

    def _replace(self, model: Model, made: DataFrame, condition: str) -> int:
        """Two that replace the same rows at once do not both succeed: Delta ends the second."""
        path = self._lake.path(model.layer, model.name)
        rows = made.coalesce(1) if self._little else made
        writer = rows.write.format("delta")
        writer.mode("overwrite").option("replaceWhere", condition).save(path)
        return rows_written(self._spark, path)

    def _stored(self, model: Model) -> DataFrame:
        return self._spark.read.format("delta").load(self._lake.path(model.layer, model.name))

    def _near(self, model: Model, when: Times) -> DataFrame:
        return self._stored(model).where(when.condition(model.at))

    def _first_kept(self, table: Table) -> date:
        """The first day of which a table has all its rows: gold of days before stays as it was."""
        archiver = self._settings.archiver
        days = {
            Kept.AS_EVENTS: archiver.keep_days,
            Kept.AS_MINUTES: archiver.minutes_keep_days,
        }.get(table.kept)
        return (
            date.min if days is None else moment(self._clock.now_ms()).date() - timedelta(days=days)
        )


def values(settings: Settings) -> dict[str, float]:
    """Parameters of SQL, by their names."""
    return {
        "most_ms": longest_ms(settings.collector.heartbeat),
        "bucket_width": math.log(GROWTH),
        "latest_ms": LATEST_MS,
        "single_ms": SINGLE_MS,
    }


def _topics(frames: Iterable[DataFrame]) -> list[tuple[str, str, str]]:
    every = reduce(DataFrame.union, (each.select("cluster", "group", "topic") for each in frames))
    return [(row[0], row[1], row[2]) for row in every.distinct().collect()]


def _begun(incidents: DataFrame) -> list[tuple[str, int]]:
    """Their ids, and when they began, Unix microseconds."""
    rows = incidents.select("incident_id", F.unix_micros("opened_at")).distinct().collect()
    return [(row[0], row[1]) for row in rows]
