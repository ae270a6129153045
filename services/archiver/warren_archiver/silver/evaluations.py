"""`evaluations`: every judgement there has been, made again from the raw offset events.

`warren.lag` is compacted, and the events that were judged are all in bronze. They are judged in the
order of their log, whatever the order in which files are read, and from what is remembered of their
group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import StructField, StructType
from warren.contracts import LagEvent, Status
from warren.contracts.topics import OFFSETS
from warren.evaluation import RuleBook
from warren.settings import Settings

from warren_archiver.lake.events import EARLIEST, LATEST
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.offset_filter import within
from warren_archiver.silver.catalogue import (
    EVALUATION_PROGRESS,
    EVALUATION_STATES,
    EVALUATIONS,
)
from warren_archiver.silver.judging import Evaluation, Source, in_order, judge_again, key_of
from warren_archiver.silver.table import Table
from warren_archiver.silver.upsert import upsert

AT_ONCE = 20_000
"""Records of a partition that are judged in one step: Python judges a few thousand a second."""
_NO_GROUP = ("", "")  # nothing is remembered of records without a group's key
_BOTH = StructType(
    [StructField("evaluation", EVALUATIONS.schema), StructField("state", EVALUATION_STATES.schema)]
)


class Chunk(NamedTuple):
    """Records of one id of the topic; `offsets` by partition, from and to, exclusive."""

    topic_id: str
    offsets: Mapping[int, tuple[int, int]]


class Evaluations:
    """Needs the tables, and Warren's packages wherever Spark's Python runs."""

    def __init__(
        self, spark: SparkSession, lake: Lake, settings: Settings, at_once: int = AT_ONCE
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._settings = settings
        self._at_once = at_once
        self._topic = OFFSETS.full_name(settings.home.topic_prefix)

    def catch_up(self) -> int:
        """Judges all that is in bronze and was not judged yet; how many evaluations are new."""
        written = 0
        while (pending := self._pending()) is not None:
            written += self._judge(pending)
        return written

    def _pending(self) -> Chunk | None:
        """The next records of the topic's oldest id that has any which were not judged."""
        judged = {
            (row[0], row[1]): row[2] for row in self._read(EVALUATION_PROGRESS.name).collect()
        }
        found = (
            _not_judged(self._events(), judged)
            .groupBy("topic_id", "partition")
            .agg(F.min("offset").alias("first"), F.max("offset").alias("last"), F.min("timestamp"))
            .collect()
        )
        if not found:
            return None
        oldest = min(found, key=lambda row: (row["min(timestamp)"], row["topic_id"]))["topic_id"]
        return Chunk(
            oldest,
            {
                row["partition"]: (row["first"], min(row["last"] + 1, row["first"] + self._at_once))
                for row in found
                if row["topic_id"] == oldest
            },
        )

    def _judge(self, chunk: Chunk) -> int:
        starts = {(self._topic, place): start for place, (start, _) in chunk.offsets.items()}
        ends = {(self._topic, place): end for place, (_, end) in chunk.offsets.items()}
        records = within(self._events(), {self._topic: chunk.topic_id}, starts, ends)
        states = self._read(EVALUATION_STATES.name)
        both = evaluated(records, states, self._settings).persist()
        try:
            rows = both.where("evaluation IS NOT NULL").select("evaluation.*")
            days = [row["date"] for row in rows.select("date").distinct().collect()]
            stored = self._read(EVALUATIONS.name).where(F.col("date").isin(days))
            written = self._put(EVALUATIONS, rows, stored)
            # Killed before this, the same is judged again from what was remembered; killed after
            # it, what is remembered says that it was judged.
            self._put(EVALUATION_STATES, both.where("state IS NOT NULL").select("state.*"), states)
            progress = [
                (chunk.topic_id, place, end - 1, EARLIEST.date())
                for place, (_, end) in chunk.offsets.items()
            ]
            told = self._spark.createDataFrame(progress, EVALUATION_PROGRESS.schema)
            self._put(EVALUATION_PROGRESS, told, self._read(EVALUATION_PROGRESS.name))
            return written
        finally:
            both.unpersist()

    def _put(self, table: Table, wanted: DataFrame, stored: DataFrame) -> int:
        return upsert(self._spark, self._lake.silver(table.name), table, wanted, stored)

    def _events(self) -> DataFrame:
        events = self._spark.read.format("delta").load(self._lake.events)
        return events.where(F.col("topic") == self._topic)

    def _read(self, name: str) -> DataFrame:
        return self._spark.read.format("delta").load(self._lake.silver(name))


def _not_judged(events: DataFrame, judged: Mapping[tuple[str, int], int]) -> DataFrame:
    condition = F.lit(True)
    for (topic_id, partition), until in judged.items():
        of_place = (F.col("topic_id") == topic_id) & (F.col("partition") == partition)
        condition &= ~of_place | (F.col("offset") > until)
    return events.where(condition)


def evaluated(events: DataFrame, states: DataFrame, settings: Settings) -> DataFrame:
    """Rows of bronze, of one id of the topic of offset events, judged from the states of their
    groups: in each row of the result either an evaluation or a state.
    """
    micros = F.unix_micros("timestamp").alias("appended")  # no time zone of Python's
    columns = ("topic", "topic_id", "partition", "offset", micros, "key", "value")
    records = events.select(*columns).rdd.map(_keyed)
    remembered = states.select("cluster", "group", "state").rdd.map(
        lambda row: ((row["cluster"], row["group"]), row["state"])
    )
    book = (settings.evaluation, settings.collector)
    spark = events.sparkSession
    judged = records.cogroup(remembered, spark.sparkContext.defaultParallelism).mapPartitions(
        lambda groups: _judged(groups, RuleBook(*book))
    )
    return spark.createDataFrame(judged, _BOTH)


def _keyed(row: Row) -> tuple[tuple[str, str], Source]:
    key, value = (None if each is None else bytes(each) for each in (row["key"], row["value"]))
    place = (row["topic"], row["topic_id"], row["partition"], row["offset"])
    source = Source(*place, row["appended"], key, value)
    return key_of(source) or _NO_GROUP, source


def _judged(
    groups: Iterable[tuple[tuple[str, str], Sequence[Iterable[Any]]]], rules: RuleBook
) -> Iterator[tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]]:
    for key, (records, remembered) in groups:
        sources = in_order(records)
        if not sources or key == _NO_GROUP:
            continue
        state = next((bytes(value) for value in remembered if value is not None), None)
        for told in judge_again(key, sources, state, rules):
            source = told.source
            if isinstance(told, Evaluation):
                yield evaluation_row(source, told.lag), None
            else:
                yield None, (*key, told.state, _moment(source.appended).date())


def evaluation_row(source: Source, lag: LagEvent) -> tuple[Any, ...]:
    """In the order of the table's columns."""
    at, incident = _moment(lag.evaluated_at * 1000), lag.incident
    statuses = [status for topic in lag.topics.values() for status in topic.status]
    return (
        lag.cluster,
        lag.group,
        at,
        lag.position,
        lag.status,
        lag.complete,
        lag.total_lag,
        len(statuses),
        sum(status != Status.OK.name for status in statuses),
        lag.policy,
        lag.reason,
        incident.id if incident else None,
        _moment(incident.opened_at * 1000) if incident else None,
        source.topic,
        source.topic_id,
        source.partition,
        source.offset,
        _moment(source.appended),
        at.date(),
    )


def _moment(microseconds: int) -> datetime:
    """Of Unix microseconds; the nearest that all readers can show."""
    latest = (LATEST - EARLIEST) // timedelta(microseconds=1)
    return EARLIEST + timedelta(microseconds=min(max(microseconds, 0), latest))
