"""Judged again from raw events: what the evaluator itself has said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from support.archive_events import Record, event_frame
from support.offset_events import NOW, commits
from warren.clock import ManualClock
from warren.contracts import LagEvent, OffsetEvent, group_key
from warren.contracts.topics import LAG, OFFSETS
from warren.evaluation import RuleBook
from warren.settings import Settings
from warren_archiver.lake.lake import Lake
from warren_archiver.silver.catalogue import EVALUATION_PROGRESS, EVALUATION_STATES, EVALUATIONS
from warren_archiver.silver.evaluations import Evaluations, evaluation_row
from warren_archiver.silver.judging import Evaluation, Remembered, Source, judge_again
from warren_archiver.silver.silver import ensure
from warren_evaluator.batch import BatchEvaluator
from warren_evaluator.records import SourceRecord

pytestmark = pytest.mark.timeout(900)
SETTINGS = Settings()
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


def _expected() -> list[Any]:
    return sorted(
        (offset, lag.group, lag.status, lag.total_lag, lag.incident.id if lag.incident else None)
        for offset, lag in _published()
    )


def test_the_evaluator_says_the_same() -> None:
    assert {status for _, _, status, _, _ in _expected()} >= {"OK", "WARN"}


@pytest.mark.parametrize("group", ["billing", "a|b"])
def test_judgement_goes_on_from_what_is_remembered(group: str) -> None:
    book = RuleBook(SETTINGS.evaluation, SETTINGS.collector)
    sources = [
        Source(r.topic, "id", r.partition, r.offset, r.timestamp_ms * 1000, r.key, r.value)
        for r in _records()
        if r.key == group_key("prod", group)
    ]
    told, state = [], None
    for source in sources:
        for one in judge_again(("prod", group), [source], state, book):
            if isinstance(one, Remembered):
                state = one.state
            else:
                told.append((one.source.offset, one.lag))
    assert told == [(offset, lag) for offset, lag in _published() if lag.group == group]
    again = judge_again(("prod", group), sources, state, book)
    assert not [one for one in again if isinstance(one, Evaluation)]


def test_rows_have_the_columns_of_their_table() -> None:
    offset, lag = _published()[0]
    source = Source(TOPIC, "id", 1, offset, NOW * 1000, b"", b"")
    row = dict(zip(EVALUATIONS.names, evaluation_row(source, lag), strict=True))
    assert (row["status"], row["kafka_offset"], row["partitions"]) == ("OK", offset, 1)
    assert row["kafka_timestamp"].timestamp() * 1000 == NOW


def test_evaluations_of_all_events_are_archived_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake.at(str(tmp_path))
    lake.ensure(spark)
    ensure(spark, lake)
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
    columns = ("kafka_offset", "group", "status", "total_lag", "incident_id")
    assert sorted(map(tuple, stored.select(*columns).collect())) == _expected()
    progress = spark.read.format("delta").load(lake.silver(EVALUATION_PROGRESS.name))
    assert [row["until"] for row in progress.collect()] == [len(records) - 1]
    assert evaluations.catch_up() == 0
