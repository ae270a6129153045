"""What becomes of records, in a real Spark: rows, or the quarantine with a reason."""

import base64
import dataclasses
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from archiver.sql_tables import view_schema
from pyspark.sql import Row, SparkSession
from support.archive_events import NOW, Record, event_frame, key, key_of, lag_event, sample
from warren.contracts import OffsetEvent
from warren.contracts.group_key import part_key
from warren.contracts.topics import CATALOGUE, DEAD_LETTERS, LAG, LAG_STATUS, OFFSETS, Topic
from warren_archiver.lake.contract_view import REFUSED_SCHEMA, ContractView

GOOD = lag_event("billing", NOW, "OK", 7).model_dump(mode="json")


def _plain(value: Any) -> Any:
    """A Spark value as the JSON that it came from."""
    match value:
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            moment = value.astimezone(UTC).isoformat(timespec="milliseconds")
            return moment.replace("+00:00", "Z")
        case _:
            return value


def _filled(expected: Any, row: Any) -> Any:
    """Absent is null."""
    if isinstance(row, dict) and isinstance(expected, dict):
        return {name: _filled(expected.get(name), item) for name, item in row.items()}
    if isinstance(row, list) and isinstance(expected, list):
        return [_filled(e, r) for e, r in zip(expected, row, strict=True)]
    return expected


@pytest.mark.parametrize("topic", CATALOGUE, ids=lambda topic: topic.name)
def test_every_contract_survives_full_sparse_and_as_a_tombstone(
    spark: SparkSession, topic: Topic
) -> None:
    full, sparse = sample(topic.event, full=True), sample(topic.event, full=False)
    values = [json.dumps(full).encode(), json.dumps(sparse).encode(), None]
    records = [Record(key_of(full), value, offset=i) for i, value in enumerate(values)]
    view = ContractView(topic)
    parsed = view.parse(event_frame(spark, records))
    rows = view.accepted(parsed)
    assert rows.schema.simpleString() == view_schema(topic).simpleString()
    found = {row["kafka_offset"]: row.asDict(recursive=True) for row in rows.collect()}
    assert sorted(found) == [0, 1, 2], [row["reason"] for row in parsed.collect()]
    own = set(topic.event.model_fields) - {"deleted"}
    for offset, expected in enumerate([full, sparse]):
        columns = {name: _plain(found[offset][name]) for name in own}
        assert columns == {name: _filled(expected.get(name), columns[name]) for name in own}
    assert found[2]["deleted"] is True
    assert not any(found[2][name] for name in own)


def _rows(spark: SparkSession, topic: Topic, *records: Record) -> list[Row]:
    view = ContractView(topic)
    return view.accepted(view.parse(event_frame(spark, records))).collect()


def test_kafka_coordinates_and_the_day_are_kept(spark: SparkSession) -> None:
    just_before_midnight = 1_795_305_599_999
    record = Record(
        key("billing"), json.dumps(GOOD).encode(), "p.lag", 3, 2**40, just_before_midnight
    )
    (row,) = _rows(spark, LAG, record)
    coordinates = (row["kafka_topic"], row["kafka_partition"], row["kafka_offset"])
    assert coordinates == ("p.lag", 3, 2**40)
    assert bytes(row["kafka_key"]) == b"prod|billing"
    assert row["kafka_timestamp"].astimezone(UTC).timestamp() * 1000 == just_before_midnight
    assert str(row["date"]) == "2026-11-21"
    assert row["deleted"] is False


NOT_JSON = "not JSON, or a wrong type"
NOT_AN_OBJECT = "not a JSON object"
ANOTHERS = "key: not that of the event's cluster and group"
LACKING = "missing, null or a value that is not allowed, or columns that differ in length"
FULL = json.dumps(GOOD | {"topics": {"t": sample(LAG.event, full=True)["topics"].popitem()[1]}})
LONG = "group: too long a name"
BAD: dict[str, tuple[bytes, str]] = {
    "text": (b"hello", NOT_AN_OBJECT),
    "empty": (b"", NOT_AN_OBJECT),
    "array": (b"[" + json.dumps(GOOD).encode() + b"]", NOT_AN_OBJECT),
    "truncated": (json.dumps(GOOD).encode()[:-1], NOT_AN_OBJECT),
    "truncated after a bracket": (b'{"v":1,"topics":{}', NOT_JSON),
    "truncated in the middle": (b'{"v":1,"cluster":}', NOT_JSON),
    "more after it": (json.dumps(GOOD).encode() + b" x", NOT_AN_OBJECT),
    "not UTF-8": (json.dumps(GOOD).encode().replace(b"billing", b"\xc3\x28"), "not UTF-8"),
    "text for a number": (json.dumps(GOOD | {"total_lag": "7"}).encode(), NOT_JSON),
    "fraction for a whole number": (json.dumps(GOOD | {"total_lag": 7.5}).encode(), NOT_JSON),
    "too large a number": (json.dumps(GOOD | {"total_lag": 2**63}).encode(), NOT_JSON),
    "NaN": (json.dumps(GOOD | {"complete": float("nan")}).encode(), NOT_JSON),
    "single quotes": (b"{'v':1}", NOT_JSON),
    "object for a list": (
        json.dumps(GOOD | {"topics": {"t": {"partition": {}}}}).encode(),
        NOT_JSON,
    ),
    "another version": (json.dumps(GOOD | {"v": 2}).encode(), "unknown version 2"),
    "nothing in it": (b"{}", f"cluster: {LACKING}"),
    "a null": (
        json.dumps(GOOD | {"status": None}).encode(),
        f"status: {LACKING}",
    ),
    "too long a name": (json.dumps(GOOD | {"group": "g" * 65_536}).encode(), LONG),
    "another's key": (json.dumps(GOOD | {"group": "orders"}).encode(), ANOTHERS),
    "a field missing deep inside": (
        json.dumps(GOOD | {"topics": {"t": {"partition": [0]}}}).encode(),
        f"topics: {LACKING}",
    ),
    **{
        name: (FULL.replace(was, becomes).encode(), f"topics: {LACKING}")
        for name, was, becomes in (
            ("a null among numbers", '"committed": [9007199254740993,', '"committed": [null,'),
            ("columns that differ in length", '"committed": [', '"committed": [7, '),
            ("a number out of range", '"committed": [9007199254740993', '"committed": [-2'),
            ("a word of no contract", '"status": ["', '"status": ["NICE'),
            ("a partition twice", '"partition": [0, 1', '"partition": [0, 0'),
        )
    },
}


def test_what_contradicts_the_contract_is_quarantined_whole_with_the_reason(
    spark: SparkSession,
) -> None:
    whose = key("billing")
    records = [Record(whose, value, offset=i) for i, (value, _) in enumerate(BAD.values())]
    records.append(Record(part_key(whose, 3), json.dumps(GOOD).encode(), offset=len(BAD)))
    view = ContractView(LAG)
    parsed = view.parse(event_frame(spark, records))
    refused = view.refused(parsed)
    assert refused.schema.simpleString() == REFUSED_SCHEMA.simpleString()
    rows = {row["kafka_offset"]: row for row in refused.collect()}
    found = {
        name: (bytes(rows[i]["value"]), rows[i]["reason"]) if i in rows else None
        for i, name in enumerate(BAD)
    }
    assert found == BAD
    assert [row["kafka_offset"] for row in view.accepted(parsed).collect()] == [len(BAD)]


class NewerOffsetEvent(OffsetEvent):
    """As a version to come may have it."""

    mood: str | None = None


def test_what_is_unknown_is_kept_for_the_version_that_knows_it(spark: SparkSession) -> None:
    """Nor is white space a reason; and an event may say itself that its group is deleted."""
    older = sample(OFFSETS.event, full=True) | {"deleted": True}
    newer = older | {"mood": "well", "new": {"x": [1]}, "deleted": False}
    values = [json.dumps(older).encode(), b"\n " + json.dumps(newer, indent=2).encode() + b"\r\n"]
    records = [Record(key_of(older), value, offset=i) for i, value in enumerate(values)]
    topic = dataclasses.replace(OFFSETS, event=NewerOffsetEvent)
    rows = sorted(_rows(spark, topic, *records), key=lambda row: row["kafka_offset"])
    assert [row["mood"] for row in rows] == [None, "well"]
    found = [(row["deleted"], row["group"]) for row in _rows(spark, OFFSETS, *records)]
    assert sorted(found) == [(False, older["group"]), (True, older["group"])]


def test_bytes_with_line_breaks_are_read(spark: SparkSession) -> None:
    """Python's encoder breaks base64 after 76 characters."""
    event = sample(DEAD_LETTERS.event, full=True)
    event |= {"value": base64.encodebytes(b"\x00\xff" * 100).decode()}
    (row,) = _rows(spark, DEAD_LETTERS, Record(None, json.dumps(event).encode()))
    assert bytes(row["value"]) == b"\x00\xff" * 100


def test_a_time_that_no_reader_can_show_is_quarantined(spark: SparkSession) -> None:
    events = [sample(LAG_STATUS.event, full=True) | {"time": time} for time in TIMES]
    records = [Record(key_of(e), json.dumps(e).encode(), offset=i) for i, e in enumerate(events)]
    view = ContractView(LAG_STATUS)
    parsed = view.parse(event_frame(spark, records))
    assert [row["kafka_offset"] for row in view.accepted(parsed).collect()] == [0]
    refused = [row["reason"] for row in view.refused(parsed).collect()]
    assert refused == ["time: not within 1970 and 9999"] * 2


TIMES = ("9999-12-30T23:59:59.999Z", "99999-01-01T00:00:00Z", "1969-12-31T23:59:59Z")
