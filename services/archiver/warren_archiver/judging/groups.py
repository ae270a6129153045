"""Raw offset events of groups judged again, by the evaluator's own judgement. Pure, no Spark.

In Spark each task has all events of some groups, in the order of their log.
"""

import functools
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from pyspark.sql import (
    DataFrame,
    Row,
    Window,
    functions as F,  # noqa: N812  # Spark's own convention
)
from pyspark.sql.types import StructType
from warren.contracts import OffsetEvent, Status, split_group_key
from warren.errors import ContractViolation
from warren.settings import CollectorSettings, EvaluationSettings
from warren_core.clocks import require_past
from warren_core.evaluation import GroupRules, RuleBook
from warren_core.judgement.cohort import Brief, Entry, is_ordinary, judge_together
from warren_core.judgement.judge import Ended, Judged, Taken, judge
from warren_core.judgement.state import GroupGone, GroupState, Rows

GroupKey = tuple[str, str]
"""Cluster and group."""
Known = dict[GroupKey, GroupState | GroupGone | None]
"""What is remembered of groups."""


class Source(NamedTuple):
    """A record of `warren.offsets`."""

    partition: int
    offset: int
    appended: int
    """Unix microseconds."""
    key: bytes | None
    value: bytes | None


class Evaluation(NamedTuple):
    """An event's record, and what was said of its group."""

    source: Source
    event: OffsetEvent
    brief: Brief


class End(NamedTuple):
    """The group was deleted, has expired or was forgotten; `opened_at` is that of its incident."""

    source: Source
    event: OffsetEvent
    opened_at: int | None


_Given = tuple[Source, OffsetEvent]


def judge_again(
    sources: Iterable[Source], known: Known, rules: RuleBook
) -> Iterator[Evaluation | End]:
    """Records of any groups, those of each in the order of their log. What the evaluator refuses
    is passed over. `known` is changed to what is remembered then.
    """
    queues = _by_group(sources)
    for number in range(max(map(len, queues.values()), default=0)):
        due = {key: events[number] for key, events in queues.items() if number < len(events)}
        yield from _judge(due, known, rules)
    for key in queues:
        known[key] = _alone(known.get(key))


@functools.lru_cache(maxsize=100_000)
def key_of(key: bytes | None) -> GroupKey | None:
    """None for what is not the key of a group."""
    try:
        return split_group_key(key)
    except ContractViolation:
        return None


def _by_group(sources: Iterable[Source]) -> dict[GroupKey, list[_Given]]:
    queues: dict[GroupKey, list[_Given]] = {}
    for source in sources:
        key = key_of(source.key)
        if key is not None and (event := _event(source, key)) is not None:
            queues.setdefault(key, []).append((source, event))
    return queues


def _event(source: Source, key: GroupKey) -> OffsetEvent | None:
    """None for one that the evaluator refuses."""
    try:
        event = OffsetEvent.from_bytes(source.value)
        # The evaluator knows a record when it is appended.
        require_past("observed_at", event.observed_at, source.appended // 1000)
    except ContractViolation:
        return None
    return event if (event.cluster, event.group) == key else None


def _judge(
    due: dict[GroupKey, _Given], known: Known, rules: RuleBook
) -> Iterator[Evaluation | End]:
    """An event of each group: those with the same rules at once, as far as that can be."""
    cohorts: dict[GroupRules, list[GroupKey]] = {}
    entries = {}
    for key, (source, event) in due.items():
        before = known.get(key)
        known[key] = before and before.as_of(source.appended // 1000)
        entry = Entry(event, known[key])
        of_group = rules.rules_for(*key)
        if is_ordinary(entry, of_group):
            cohorts.setdefault(of_group, []).append(key)
            entries[key] = entry
        else:
            yield from _judge_one(due[key], key, known, of_group)
    for of_group, keys in cohorts.items():
        told = judge_together([entries[key] for key in keys], of_group.group)
        for key, brief in zip(keys, told, strict=True):
            if brief is None:
                yield from _judge_one(due[key], key, known, of_group)
            else:
                known[key] = brief.state
                yield Evaluation(*due[key], brief)


def _judge_one(
    given: _Given, key: GroupKey, known: Known, rules: GroupRules
) -> Sequence[Evaluation | End]:
    before = known.get(key)
    try:
        outcome = judge(given[1], before, rules, source_offset=given[0].offset)
    except ContractViolation:
        return ()
    if not isinstance(outcome, Taken | Judged | Ended):
        return ()
    known[key] = outcome.state
    group = before if isinstance(before, GroupState) else None
    if isinstance(outcome, Judged):
        brief = Brief.of(outcome, group.status if group else Status.OK)
        return [Evaluation(*given, brief)]
    if isinstance(outcome, Ended):
        return [End(*given, group.opened_at if group else None)]
    return ()


def _alone(state: GroupState | GroupGone | None) -> GroupState | GroupGone | None:
    """With columns of its own: those of a cohort would be kept as long as any group's of it."""
    if not isinstance(state, GroupState) or state.latest.base is None:
        return state
    return replace(state, **Rows.joined([state])._asdict())


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
