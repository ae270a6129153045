"""Judged again from raw events: what the evaluator itself has said of them."""

from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from support.archive_events import Record, event_frame
from support.manual_clock import ManualClock
from support.offset_events import NOW, commits
from warren.contracts import LagEvent, OffsetEvent, group_key
from warren.contracts.topics import LAG, OFFSETS
from warren.settings import Settings
from warren_archiver.judging.groups import (
    Evaluation,
    Known,
    Source,
    judge_again,
    remembered,
)
from warren_archiver.judging.groups import stored as as_stored
from warren_archiver.lake.lake import Lake
from warren_archiver.silver.catalogue import EVALUATION_PROGRESS, EVALUATION_STATES, EVALUATIONS
from warren_archiver.silver.evaluations import Evaluations
from warren_core.evaluation import RuleBook
from warren_evaluator.batch import BatchEvaluator
from warren_evaluator.records import SourceRecord

pytestmark = pytest.mark.timeout(1800)
SETTINGS = Settings.model_validate({"evaluation": {"policy": "burrow"}})
TOPIC = OFFSETS.full_name(SETTINGS.home.topic_prefix)


def _events() -> list[OffsetEvent]:
    """Of two groups, in turn: both get into trouble, one of them gets out of it."""
    well = commits(115, 116, 117, 0, 0, 118)
    ill = [event.model_copy(update={"group": "a|b"}) for event in commits(5, 6, 7, 8, 9, 9)]
    return [event for pair in zip(well, ill, strict=True) for event in pair]


def _records() -> list[Record]:
    """With a repeat, and with what the evaluator refuses."""
    values = [(group_key("prod", event.group), event.to_bytes()) for event in _events()]
    values = [*values[:5], values[2], (b"?", b"{}"), (values[0][0], b"no event"), *values[5:]]
    return [
        Record(key, value, TOPIC, 1, number, NOW + number)
        for number, (key, value) in enumerate(values)
    ]


def _published() -> list[tuple[int, LagEvent]]:
    """By the evaluator, and the offset of the event that it judged."""
    rules = RuleBook(SETTINGS.evaluation, SETTINGS.collector).rules_for
    evaluator = BatchEvaluator(rules, SETTINGS.home.topic_prefix, ManualClock(NOW))
    records = [SourceRecord(TOPIC, r.partition, r.offset, r.key, r.value) for r in _records()]
    name = LAG.full_name(SETTINGS.home.topic_prefix)
    return [
        (item.source.offset, LagEvent.from_bytes(item.value))
        for item in evaluator.evaluate(records, {}.get).publications
        if item.topic == name and item.source is not None
    ]


def _row(offset: int, lag: LagEvent) -> tuple[object, ...]:
    """As it is archived; times are Unix milliseconds."""
    statuses = [status for topic in lag.topics.values() for status in topic.status]
    incident = lag.incident
    return (
        offset,
        lag.group,
        lag.evaluated_at,
        lag.position,
        lag.status,
        lag.complete,
        lag.total_lag,
        len(statuses),
        sum(status != "OK" for status in statuses),
        lag.policy,
        lag.reason,
        incident.id if incident else None,
        incident.opened_at if incident else None,
        1,
        NOW + offset,
    )


def test_the_evaluator_says_the_same() -> None:
    assert {lag.status for _, lag in _published()} >= {"OK", "WARN"}


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_judgement_goes_on_from_what_is_remembered(at_once: int) -> None:
    book = RuleBook(SETTINGS.evaluation, SETTINGS.collector)
    sources = [
        Source(r.partition, r.offset, r.timestamp_ms * 1000, r.key, r.value) for r in _records()
    ]
    told: list[Evaluation] = []
    known: Known = {}
    for start in range(0, len(sources), at_once):
        some = judge_again(sources[start : start + at_once], known, book)
        told += [one for one in some if isinstance(one, Evaluation)]
        known = {key: remembered(as_stored(state)) for key, state in known.items()}
    said = [
        (one.source.offset, one.event.group, one.brief.status.name, one.brief.reason)
        for one in told
    ]
    assert sorted(said) == [
        (offset, lag.group, lag.status, lag.reason)
        for offset, lag in sorted(_published(), key=lambda pair: pair[0])
    ]
    assert not list(judge_again(sources, known, book))


def test_evaluations_of_all_events_are_archived_once(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = _records()
    for part in (records[:9], records[9:]):
        frame = event_frame(spark, part)
        frame.coalesce(1).write.format("delta").mode("append").save(lake.events)
    evaluations = Evaluations(spark, lake, SETTINGS, at_once=8)
    with monkeypatch.context() as killed:
        put = Evaluations._put

        def fail(self: Evaluations, table: Any, *frames: Any) -> int:
            if table is EVALUATION_STATES:
                raise PySparkException("killed")
            return put(self, table, *frames)

        killed.setattr(Evaluations, "_put", fail)
        with pytest.raises(PySparkException):
            evaluations.catch_up()
    evaluations.catch_up()
    stored = spark.read.format("delta").load(lake.silver(EVALUATIONS.name))
    names = ("position", "status", "complete", "total_lag", "partitions", "bad_partitions")
    rows = stored.selectExpr(
        "kafka_offset",
        "`group`",
        "unix_millis(at)",
        *names,
        "policy",
        "reason",
        "incident_id",
        "unix_millis(opened_at)",
        "kafka_partition",
        "unix_millis(kafka_timestamp)",
    )
    assert sorted(map(tuple, rows.collect())) == sorted(
        _row(offset, lag) for offset, lag in _published()
    )
    progress = spark.read.format("delta").load(lake.silver(EVALUATION_PROGRESS.name))
    assert [row["until"] for row in progress.collect()] == [len(records) - 1]
    assert evaluations.catch_up() == 0


def test_a_group_that_has_moved_is_judged_in_the_order_of_time(
    spark: SparkSession, lake: Lake
) -> None:
    """The topic got more partitions: in its new one a group's offsets are small again. And in one
    partition clocks may go back."""
    events = commits(115, 116, 117, 0, 0, 118)
    records = [
        Record(group_key("prod", event.group), event.to_bytes(), TOPIC, *place, NOW + at)
        for event, place, at in zip(
            events,
            [(0, 100), (0, 101), (0, 102), (5, 0), (5, 1), (5, 2)],
            [0, 2, 1, 3, 5, 4],
            strict=True,
        )
    ]
    frame = event_frame(spark, list(reversed(records)))
    frame.coalesce(1).write.format("delta").mode("append").save(lake.events)
    assert Evaluations(spark, lake, SETTINGS).catch_up() == len(events)
    stored = spark.read.format("delta").load(lake.silver(EVALUATIONS.name))
    rows = stored.orderBy("at").select("position", "status", "kafka_partition").collect()
    rules = RuleBook(SETTINGS.evaluation, SETTINGS.collector)
    key, known = group_key("prod", events[0].group), Known()
    sources = [Source(0, at, NOW * 1000, key, e.to_bytes()) for at, e in enumerate(events)]
    told = [one for one in judge_again(sources, known, rules) if isinstance(one, Evaluation)]
    assert [(row["position"], row["status"]) for row in rows] == [
        (one.event.position, one.brief.status.name) for one in told
    ]
    assert [row["kafka_partition"] for row in rows] == [0, 0, 0, 5, 5, 5]
