"""`evaluations`: every judgement there has been, made again from the raw offset events.

`warren.lag` is compacted, and the events that were judged are all in bronze. They are judged in the
order of their log, whatever the order in which files are read, and from what is remembered of their
group.
"""

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import StructField, StructType
from warren.contracts.topics import OFFSETS
from warren.settings import Settings
from warren_core.judgement.incidents import incident_id

from warren_archiver.judging.groups import End, Evaluation, GroupKey
from warren_archiver.judging.partitions import Values, judged
from warren_archiver.lake.events import EARLIEST, bounded
from warren_archiver.lake.gaps import within
from warren_archiver.lake.lake import Lake
from warren_archiver.lake.table import BYTES, FLAG, TIME, WHOLE, Table
from warren_archiver.silver.catalogue import (
    EVALUATION_PROGRESS,
    EVALUATION_STATES,
    EVALUATIONS,
)
from warren_archiver.silver.upsert import upsert

AT_ONCE = 50_000
"""Records of a partition that are judged in one step."""
_ELSEWHERE = ("kafka_topic", "kafka_topic_id", "date")  # the same for all, or it follows
_TIMES = tuple(field.name for field in EVALUATIONS.fields if field.type == TIME)
# As Python passes them on: times are Unix microseconds. A row has either an evaluation or a state.
_ROW = StructType(
    [
        *(
            StructField(field.name, WHOLE if field.type == TIME else field.type)
            for field in EVALUATIONS.fields
            if field.name not in _ELSEWHERE
        ),
        StructField("state", BYTES),
        StructField("is_state", FLAG),
    ]
)


class Chunk(NamedTuple):
    """Records of one id of the topic; `offsets` by partition, from and to, exclusive."""

    topic_id: str
    offsets: Mapping[int, tuple[int, int]]
    is_last: bool
    """Nothing else has to be judged."""


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

    def catch_up(self, since: date | None = None) -> int:
        """Judges all that is in bronze and was not judged yet; how many evaluations are new.

        `since`: no earlier day has any such event; None when nobody knows.
        """
        written = 0
        while (pending := self._pending(since)) is not None:
            written += self._judge(pending, since)
            if pending.is_last:
                break
        return written

    def _pending(self, since: date | None) -> Chunk | None:
        """The next records of the topic's oldest id that has any which were not judged."""
        judged_ = {
            (row[0], row[1]): row[2] for row in self._read(EVALUATION_PROGRESS.name).collect()
        }
        found = (
            _not_judged(self._events(since), judged_)
            .groupBy("topic_id", "partition")
            .agg(F.min("offset").alias("first"), F.max("offset").alias("last"), F.min("timestamp"))
            .collect()
        )
        if not found:
            return None
        oldest = min(found, key=lambda row: (row["min(timestamp)"], row["topic_id"]))["topic_id"]
        offsets = {
            row["partition"]: (row["first"], min(row["last"] + 1, row["first"] + self._at_once))
            for row in found
            if row["topic_id"] == oldest
        }
        is_last = all(
            row["topic_id"] == oldest and offsets[row["partition"]][1] > row["last"]
            for row in found
        )
        return Chunk(oldest, offsets, is_last)

    def _judge(self, chunk: Chunk, since: date | None) -> int:
        starts = {(self._topic, place): start for place, (start, _) in chunk.offsets.items()}
        ends = {(self._topic, place): end for place, (_, end) in chunk.offsets.items()}
        records = within(self._events(since), {self._topic: chunk.topic_id}, starts, ends)
        states = self._read(EVALUATION_STATES.name)
        both = evaluated(records, states, self._settings).persist()
        try:
            rows = evaluations_of(both, self._topic, chunk.topic_id)
            first = min(start for start, _ in chunk.offsets.values())
            days = [row["date"] for row in rows.select("date").distinct().collect()]
            stored = self._read(EVALUATIONS.name).where(
                F.col("date").isin(days) & (F.col("kafka_offset") >= first)
            )
            written = self._put(EVALUATIONS, rows, stored)
            # Killed before this, the same is judged again from what was remembered; killed after
            # it, what is remembered says that it was judged.
            day = F.to_date(bounded(F.timestamp_micros("kafka_timestamp")))
            self._put(
                EVALUATION_STATES,
                EVALUATION_STATES.conform(both.where("is_state").withColumn("date", day)),
                states,
            )
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

    def _events(self, since: date | None) -> DataFrame:
        events = self._spark.read.format("delta").load(self._lake.events)
        of_topic = events.where(F.col("topic") == self._topic)
        return of_topic if since is None else of_topic.where(F.col("date") >= since)

    def _read(self, name: str) -> DataFrame:
        return self._spark.read.format("delta").load(self._lake.silver(name))


def _not_judged(events: DataFrame, judged_: Mapping[tuple[str, int], int]) -> DataFrame:
    condition = F.lit(True)
    for (topic_id, partition), until in judged_.items():
        of_place = (F.col("topic_id") == topic_id) & (F.col("partition") == partition)
        condition &= ~of_place | (F.col("offset") > until)
    return events.where(condition)


def evaluated(events: DataFrame, states: DataFrame, settings: Settings) -> DataFrame:
    """Rows of bronze, of one id of the topic of offset events, judged from the states of their
    groups: in each row of the result either an evaluation or a state.
    """
    book = (settings.evaluation, settings.collector)
    return judged(events, states, book, _ROW, evaluation_row, _state_row)


def judged_from_nothing(events: DataFrame, settings: Settings) -> DataFrame | None:
    """All evaluations, from all events that there have been. None where the topic had several ids:
    each was judged after the one before.
    """
    name = OFFSETS.full_name(settings.home.topic_prefix)
    of_topic = events.where(F.col("topic") == name)
    ids = [row["topic_id"] for row in of_topic.select("topic_id").distinct().collect()]
    if len(ids) != 1:
        return None
    nothing = events.sparkSession.createDataFrame([], EVALUATION_STATES.schema)
    return evaluations_of(evaluated(of_topic, nothing, settings), name, ids[0])


def evaluations_of(both: DataFrame, topic: str, topic_id: str) -> DataFrame:
    rows = both.where("NOT is_state")
    times = {name: bounded(F.timestamp_micros(name)) for name in _TIMES}
    own = {"kafka_topic": F.lit(topic), "kafka_topic_id": F.lit(topic_id)}
    return EVALUATIONS.conform(
        rows.withColumns(times).withColumns(own).withColumn("date", F.to_date("at"))
    )


def evaluation_row(told: Evaluation | End) -> Values | None:
    """In the order of `_ROW`."""
    if isinstance(told, End):
        return None
    source, event, brief = told.source, told.event, told.brief
    opened_at, incident = brief.state.opened_at, None
    if opened_at is not None:
        incident = incident_id(event.cluster, event.group, opened_at)
    return (
        event.cluster,
        event.group,
        event.observed_at * 1000,
        event.position,
        brief.status.name,
        brief.complete,
        brief.total_lag,
        brief.state.windows.filled.size,
        brief.bad_partitions,
        told.policy,
        brief.reason,
        incident,
        None if opened_at is None else opened_at * 1000,
        source.partition,
        source.offset,
        source.appended,
        None,
        False,
    )


def _state_row(group: GroupKey, state: bytes | None, appended: int) -> Values:
    values = dict.fromkeys(_ROW.names)
    cluster, name = group
    values |= {
        "cluster": cluster,
        "group": name,
        "kafka_timestamp": appended,
        "state": state,
        "is_state": True,
    }
    return tuple(values.values())
