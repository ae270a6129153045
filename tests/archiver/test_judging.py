"""Judged again from raw events: what the evaluator itself has said of them."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType
from support.archive_events import Record, event_frame
from support.manual_clock import ManualClock
from support.offset_events import NOW, commits
from warren.contracts import LagEvent, OffsetEvent, group_key
from warren.contracts.topics import LAG, OFFSETS
from warren.settings import Settings
from warren_archiver.judging.groups import End, Evaluation, Known, Source, judge_again, judged
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
    said = [
        (one.source.offset, one.event.group, one.brief.status.name, one.brief.reason)
        for one in told
    ]
    assert sorted(said) == [
        (offset, lag.group, lag.status, lag.reason)
        for offset, lag in sorted(_published(), key=lambda pair: pair[0])
    ]
    assert not list(judge_again(sources, known, book))


_JUDGED = StructType([StructField("position", LongType()), StructField("status", StringType())])


def test_a_group_that_has_moved_is_judged_in_the_order_of_time(spark: SparkSession) -> None:
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

    def said(found: Evaluation | End) -> tuple[object, ...] | None:
        """Of this function's: workers of Spark do not find what the tests import."""
        is_judged = isinstance(found, Evaluation)
        return (found.event.position, found.brief.status.name) if is_judged else None

    book = (SETTINGS.evaluation, SETTINGS.collector)
    frame = event_frame(spark, list(reversed(records)))
    found = judged(frame, book, _JUDGED, said).collect()
    key, known = group_key("prod", events[0].group), Known()
    sources = [Source(0, at, NOW * 1000, key, e.to_bytes()) for at, e in enumerate(events)]
    told = judge_again(sources, known, RuleBook(*book))
    assert [tuple(row) for row in found] == [*map(said, told)]
