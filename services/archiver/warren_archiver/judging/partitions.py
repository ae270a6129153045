"""Judged in Spark: each task has all events of some groups, in the order of their log."""

import gc
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from pyspark.sql.types import StructType
from warren.settings import CollectorSettings, EvaluationSettings
from warren_core.evaluation import RuleBook

from warren_archiver.judging.groups import End, Evaluation, Known, Source, judge_again

TOGETHER = 5_000
"""Records that Python has at hand at a time: the first ones of all groups among them are judged
together, then the second ones."""

Values = tuple[Any, ...]
RowOf = Callable[[Evaluation | End], Values | None]


def judged(
    events: DataFrame,
    settings: tuple[EvaluationSettings, CollectorSettings],
    schema: StructType,
    row_of: RowOf,
    *,
    least_tasks: int = 1,
) -> DataFrame:
    """Rows of `schema` from rows of bronze, of one id of the topic of offset events.

    `schema` has numbers, texts and bytes only: they are passed on as Python has them.
    """
    micros = F.unix_micros("timestamp").alias("appended")  # no time zone of Python's
    rows = events.select("partition", "offset", micros, "key", "value")
    spark = events.sparkSession
    # Where rows are put together by key, as everywhere else in this session.
    tasks = max(int(spark.conf.get("spark.sql.shuffle.partitions") or 1), least_tasks)
    # A group that moved, when the topic got more partitions, has small offsets again in its new
    # one: what was appended there comes after, though in one partition clocks may go back.
    in_log = Window.partitionBy("key", "partition").orderBy("offset")
    reached = F.max("appended").over(in_log.rowsBetween(Window.unboundedPreceding, 0))
    of_tasks = rows.repartition(tasks, "key").withColumn("reached", reached)
    in_order = of_tasks.sortWithinPartitions("reached", "offset").drop("reached")
    task = _Task(settings, row_of)
    return spark.createDataFrame(in_order.rdd.mapPartitions(task), schema, verifySchema=False)


class _Task:
    """Travels to the executors."""

    def __init__(
        self,
        settings: tuple[EvaluationSettings, CollectorSettings],
        row_of: RowOf,
    ) -> None:
        self._settings = settings
        self._row_of = row_of

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
        known: Known = {}
        while some := [
            Source(*row[:3], *(None if text is None else bytes(text) for text in row[3:]))
            for row in islice(each, TOGETHER)
        ]:
            told = map(self._row_of, judge_again(some, known, rules))
            yield from (row for row in told if row is not None)
