"""Judged in Spark: each task has all events of some groups, in the order of their log."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import StructType
from warren.settings import CollectorSettings, EvaluationSettings
from warren_core.evaluation import RuleBook

from warren_archiver.judging.groups import (
    End,
    Evaluation,
    GroupKey,
    Known,
    Source,
    judge_again,
    key_of,
    remembered,
    stored,
)

TOGETHER = 5_000
"""Records that Python has at hand at a time: the first ones of all groups among them are judged
together, then the second ones."""
_STATE = -1  # the offset of what is remembered: it comes before all records

Values = tuple[Any, ...]
RowOf = Callable[[Evaluation | End], Values | None]
StateRow = Callable[[GroupKey, bytes | None, int], Values]
"""From a group, what is remembered of it, and when its last record was appended (µs)."""


def judged(
    events: DataFrame,
    states: DataFrame | None,
    settings: tuple[EvaluationSettings, CollectorSettings],
    schema: StructType,
    row_of: RowOf,
    state_row: StateRow | None = None,
    *,
    least_tasks: int = 1,
) -> DataFrame:
    """Rows of `schema` from rows of bronze, of one id of the topic of offset events.

    `states` (cluster, group, state) are what is remembered of groups from before. `schema` has
    numbers, texts and bytes only: they are passed on as Python has them.
    """
    micros = F.unix_micros("timestamp").alias("appended")  # no time zone of Python's
    rows = events.select("partition", "offset", micros, "key", "value")
    if states is not None:
        key = F.concat_ws("|", "cluster", "group").cast("binary").alias("key")
        before = [F.lit(0).alias("partition"), F.lit(_STATE).alias("offset"), F.lit(0), key]
        rows = rows.unionAll(states.where("state IS NOT NULL").select(*before, "state"))
    spark = events.sparkSession
    tasks = max(tasks_of_a_stage(spark), least_tasks)
    # A group that moved, when the topic got more partitions, has small offsets again in its new
    # one: what was appended there comes after, though in one partition clocks may go back.
    in_log = Window.partitionBy("key", "partition").orderBy("offset")
    reached = F.max("appended").over(in_log.rowsBetween(Window.unboundedPreceding, 0))
    of_tasks = rows.repartition(tasks, "key").withColumn("reached", reached)
    in_order = of_tasks.sortWithinPartitions("reached", "offset").drop("reached")
    task = _Task(settings, row_of, state_row)
    return spark.createDataFrame(in_order.rdd.mapPartitions(task), schema, verifySchema=False)


class _Task:
    """Travels to the executors."""

    def __init__(
        self,
        settings: tuple[EvaluationSettings, CollectorSettings],
        row_of: RowOf,
        state_row: StateRow | None,
    ) -> None:
        self._settings = settings
        self._row_of = row_of
        self._state_row = state_row

    def __call__(self, rows: Iterable[Row]) -> Iterator[Values]:
        # Thousands of events are alive at a time, none of them in a circle: looking for some takes
        # a third of the time.
        gc.disable()
        try:
            yield from self._rows(rows)
        finally:
            gc.enable()

    def _rows(self, rows: Iterable[Row]) -> Iterator[Values]:
        rules = RuleBook(*self._settings)
        each = iter(rows)
        before: dict[GroupKey, bytes] = {}
        known: Known = {}
        last: dict[GroupKey, int] = {}
        while some := list(islice(each, TOGETHER)):
            sources = []
            for row in some:
                source = source_of(row)
                group = key_of(source.key)
                if group is None:
                    continue
                if source.offset == _STATE:
                    before[group] = source.value or b""
                    continue
                if group not in last:
                    known[group] = remembered(before.pop(group, None))
                last[group] = source.appended
                sources.append(source)
            told = map(self._row_of, judge_again(sources, known, rules))
            yield from (row for row in told if row is not None)
        if self._state_row is not None:
            for group, appended in last.items():
                yield self._state_row(group, stored(known[group]), appended)


def tasks_of_a_stage(spark: SparkSession) -> int:
    """Where rows are put together by key, as everywhere else in this session."""
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)


def source_of(row: Sequence[Any]) -> Source:
    """From partition, offset, appended (µs), key and value as Spark gives them."""
    partition, offset, appended, key, value = row
    return Source(partition, offset, appended, _bytes(key), _bytes(value))


def _bytes(value: bytes | bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
