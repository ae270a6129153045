"""The models of silver made both ways: kept up with batches of events, and of all events at once.

A batch changes what it touches, and nothing else. It may come again, and its events late: what is
computed depends on which events there are, not on when they came.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from operator import or_
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import StructField, StructType
from warren.contracts.topics import Topic

from warren_archiver.amount import FEW_EVENTS, fit
from warren_archiver.lake.contract_view import ContractView
from warren_archiver.lake.events import EARLIEST, LATEST
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.lake import ensure as ensure_table
from warren_archiver.lake.table import SMALL, TEXT, WHOLE, Table
from warren_archiver.silver import catalogue
from warren_archiver.silver.models import MODELS, OF, Model, events_behind
from warren_archiver.silver.upsert import upsert
from warren_archiver.steps import Step, Tell, untold

MOST_RANGES = 24
_MINUTE, _HOUR = 60_000_000, 3_600_000_000
_LATEST = (LATEST - EARLIEST) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Times:
    """Ranges of time, Unix microseconds, the ends included: in order, and apart."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> Times:
        """The nearest are joined until there are few; one that is dated far away stays apart."""
        found, gap = sorted(ranges), 0
        while len(joined := _joined(found, gap)) > MOST_RANGES:
            gap = gap * 2 + _HOUR
        return cls(tuple(joined))

    def widened(self, before_ms: int, after_ms: int) -> Times:
        """With so much more at both sides, from the beginning of a minute to the end of one."""
        return Times.of(
            (
                max((first - before_ms * 1000) // _MINUTE * _MINUTE, 0),
                min((last + after_ms * 1000) // _MINUTE * _MINUTE + _MINUTE - 1, _LATEST),
            )
            for first, last in self.ranges
        )

    @property
    def days(self) -> list[date]:
        """All that the ranges reach into."""
        return sorted(
            {
                begin + timedelta(days=number)
                for begin, end in ((_day(first), _day(last)) for first, last in self.ranges)
                for number in range((end - begin).days + 1)
            }
        )

    def within(self, rows: DataFrame, at: str) -> DataFrame:
        """Rows of these times; `date` is the day of `at`: files of other days are not opened."""
        each = (
            F.col(at).between(*(F.timestamp_micros(F.lit(moment)) for moment in ends))
            for ends in self.ranges
        )
        return rows.where(F.col("date").isin(self.days) & reduce(or_, each))


def _joined(ranges: Sequence[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if found and first - found[-1][1] <= gap + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def _day(moment: int) -> date:
    return (EARLIEST + timedelta(microseconds=moment)).date()


def of_same(rows: DataFrame, keys: DataFrame) -> DataFrame:
    """Rows that belong to what new ones belong to; `keys`: that, perhaps several times."""
    return rows.join(F.broadcast(keys.distinct()), keys.columns, "left_semi")


MOST_BYTES = 128 * 2**20
"""Of values. The default heap of 1 GB has room for them, and for what is made of them."""
_PLACE = ("topic", "topic_id", "partition")
_SPAN = StructType(
    [
        StructField("topic", TEXT),
        StructField("topic_id", TEXT),
        StructField("partition", SMALL),
        StructField("_first", WHOLE),
        StructField("_count", WHOLE),
    ]
)
Views = Mapping[Topic, ContractView]


class Part(NamedTuple):
    """Rows of bronze, the names of the topics that they may be of, about how many they are."""

    events: DataFrame
    topics: set[str]
    rows: int
    number: int = 0
    of: int = 1


def in_parts(events: DataFrame, most_bytes: int = MOST_BYTES) -> Iterator[Part]:
    """Each row once; of each partition the earlier ones in the first part, and so on."""
    first, last = F.min("offset"), F.max("offset")
    spans = (
        events.groupBy(*_PLACE)
        .agg(
            first.alias("first"),
            last.alias("last"),
            F.sum(F.length("value")).alias("bytes"),
            F.count(F.lit(1)).alias("rows"),
        )
        .collect()
    )
    parts = -(-sum(span["bytes"] or 0 for span in spans) // most_bytes)
    topics, counted = {span["topic"] for span in spans}, sum(span["rows"] for span in spans)
    if parts <= 1:
        yield Part(events, topics, counted)
        return
    rows = [(*span[:3], span["first"], span["last"] - span["first"] + 1) for span in spans]
    known = F.broadcast(events.sparkSession.createDataFrame(rows, _SPAN))
    part = F.expr(f"(offset - _first) * {parts} DIV _count")
    numbered = events.join(known, list(_PLACE)).withColumn("_part", part)
    for number in range(parts):
        of_part = numbered.where(F.col("_part") == number)
        yield Part(of_part.select(*events.columns), topics, counted // parts, number, parts)


class Batch(NamedTuple):
    """By the tables' names, only those that there is something new of."""

    rows: Mapping[str, DataFrame]
    times: Mapping[str, Times]


@contextmanager
def parsed(events: DataFrame, topics: Mapping[str, Topic], views: Views) -> Iterator[Batch]:
    """Rows of bronze while they are at hand, parsed once however many tables are made of them;
    `topics`, by name: those that they are of."""
    events.persist()
    frames = {topic: frame.persist() for topic, frame in _parsed(events, topics, views).items()}
    try:
        rows = _new_rows(frames, views)
        # Of each table that has rows: by the hour, so that what is dated far away stays apart.
        each = [
            frame.select(F.lit(name).alias("name"), F.col(OF[name].reach.at).alias("at"))
            for name, frame in rows.items()
        ]
        hours = (
            reduce(DataFrame.unionAll, each)
            .groupBy("name", F.date_trunc("hour", "at"))
            .agg(
                F.unix_micros(F.min("at")).alias("first"), F.unix_micros(F.max("at")).alias("last")
            )
            .collect()
        )
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row in hours:
            found[row["name"]].append((row["first"], row["last"]))
        times = {name: Times.of(ranges) for name, ranges in found.items()}
        yield Batch({name: rows[name] for name in times}, times)
    finally:
        for frame in (*frames.values(), events):
            frame.unpersist()


def all_rows(events: DataFrame, topics: Mapping[str, Topic]) -> dict[str, DataFrame]:
    """Rows of each table that is made of these topics' events."""
    views = {topic: ContractView(topic) for topic in topics.values()}
    return _new_rows(_parsed(events, topics, views), views)


def _parsed(events: DataFrame, topics: Mapping[str, Topic], views: Views) -> dict[Topic, DataFrame]:
    return {
        topic: views[topic].parse(events.where(F.col("topic") == name))
        for name, topic in topics.items()
    }


def _new_rows(frames: Mapping[Topic, DataFrame], views: Views) -> dict[str, DataFrame]:
    found = {}
    refused = [views[topic].refused(frame) for topic, frame in frames.items()]
    for model in MODELS:
        if model.rows is None:
            continue
        if model.topic is None:
            found[model.name] = model.rows(reduce(DataFrame.unionAll, refused))
        elif model.topic in frames:
            accepted = views[model.topic].accepted(frames[model.topic])
            found[model.name] = model.rows(accepted)
    return found


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
