"""The contracts: what is refused, what is ignored, and that the schemas say the same."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, strategies as st
from shared.contract_examples import EVENTS, IDS, example
from warren.contracts import (
    MAX_MESSAGE_BYTES,
    DeadLetter,
    Event,
    LagEvent,
    NotifierState,
    OffsetEvent,
    Status,
    StatusChangeEvent,
    TopicPositions,
    TopicsEvent,
    group_key,
    split_group_key,
)
from warren.errors import ContractViolation

OFFSET_EVENT, STATUS_CHANGE = example(OffsetEvent), example(StatusChangeEvent)


@pytest.mark.parametrize("event", EVENTS, ids=IDS)
def test_bytes_and_back(event: Event) -> None:
    assert type(event).from_bytes(event.to_bytes()) == event


@pytest.mark.parametrize("event", EVENTS, ids=IDS)
def test_written_bytes_match_the_schema(event: Event) -> None:
    document = type(event).model_json_schema(mode="serialization", by_alias=True)
    jsonschema.Draft202012Validator.check_schema(document)
    jsonschema.validate(json.loads(event.to_bytes()), document)


@pytest.mark.parametrize("event", EVENTS, ids=IDS)
def test_unknown_fields_are_ignored(event: Event) -> None:
    body = json.loads(event.to_bytes()) | {"field_of_tomorrow": {"a": 1}}
    assert type(event).from_bytes(json.dumps(body).encode()) == event


def columns(**change: list[int]) -> dict[str, Any]:
    return {"t": {name: [1, 2] for name in TopicPositions.model_fields} | change}


def changed(**change: Any) -> bytes:
    return json.dumps(json.loads(OFFSET_EVENT.to_bytes()) | change).encode()


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, "no value"),
        (b"", "value"),
        (b"not json", "value"),
        (OFFSET_EVENT.to_bytes()[:-20], "value"),
        (b"[]", "value"),
        (changed(v=2), "v"),
        (changed(cluster="a|b"), "cluster"),
        (changed(position=-2), "position"),
        (changed(topics={"t": {"partition": [0]}}), "topics.t"),
        (changed(observed_at="yesterday"), "observed_at"),
        (changed(observed_at=-1), "observed_at"),
        (changed(observed_at=True), "observed_at"),
        (changed(position="7"), "position"),
        (changed(observed_at=2**63 - 1), "observed_at"),
        (changed(group="g" * 65_536), "group"),
        (changed(cluster="c" * 250), "cluster"),
        (changed(topics=columns(partition=[1, 200_000])), "topics.t.partition.1"),
    ],
)
def test_what_the_contract_does_not_allow_is_refused(value: bytes | None, names: str) -> None:
    with pytest.raises(ContractViolation, match=rf"^{names}"):
        OffsetEvent.from_bytes(value)


@pytest.mark.parametrize(
    "key", [b"prod|other", b"other|billing", b"+1|prod|billing", b"billing", b"\xff|b", None]
)
def test_an_event_of_another_key_is_refused(key: bytes | None) -> None:
    value = OFFSET_EVENT.to_bytes()
    assert OffsetEvent.from_record(group_key(*OFFSET_EVENT.about), value) == OFFSET_EVENT
    with pytest.raises(ContractViolation):
        OffsetEvent.from_record(key, value)


@pytest.mark.parametrize("change", [{"log_end": [1]}, {"partition": [1, 1]}, {"committed": []}])
def test_columns_belong_together(change: dict[str, list[int]]) -> None:
    with pytest.raises(ContractViolation, match="topics"):
        OffsetEvent.from_bytes(changed(topics=columns(**change)))


def test_a_notifiers_state_has_the_events_that_it_speaks_of() -> None:
    body = json.loads(example(NotifierState).to_bytes()) | {"events": {}}
    with pytest.raises(ContractViolation, match="events are missing: 1"):
        NotifierState.from_bytes(json.dumps(body).encode())


def told_at(time: str) -> StatusChangeEvent:
    body = json.loads(STATUS_CHANGE.to_bytes()) | {"time": time}
    return StatusChangeEvent.from_bytes(json.dumps(body).encode())


def test_times_are_written_with_milliseconds_in_utc() -> None:
    written = json.loads(told_at("2026-11-21T09:00:00.123+02:00").to_bytes())["time"]
    assert written == "2026-11-21T07:00:00.123Z"


@pytest.mark.parametrize(
    "time", ["2026-11-21T07:00:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]
)
def test_a_time_that_utc_does_not_have_is_refused(time: str) -> None:
    with pytest.raises(ContractViolation, match=r"^time"):
        told_at(time)


def test_dead_letter_keeps_the_raw_bytes() -> None:
    read = DeadLetter.from_bytes(example(DeadLetter).to_bytes())
    assert (read.key, read.value) == (b"prod|billing", b"\xff\x00{")


def letter(key: bytes | None, value: bytes | None, reason: str = "not JSON") -> DeadLetter:
    return DeadLetter.of(
        service="evaluator",
        topic="t" * 249,
        partition=3,
        offset=2**62,
        reason=reason,
        failed_at=1,
        key=key,
        value=value,
    )


@pytest.mark.parametrize("key", [None, b"", b"prod|billing", b"\xff" * 9_000_000])
@pytest.mark.parametrize("value", [None, b"", b"{}", b"\x00" * 6_300_000, b"\xff" * 30_000_000])
@pytest.mark.parametrize("reason", ["not JSON", "\x00" * 100_000])
def test_a_dead_letter_fits_whatever_it_is_about(
    key: bytes | None, value: bytes | None, reason: str
) -> None:
    written = letter(key, value, reason)
    assert len(written.key or b"") + len(written.to_bytes()) < MAX_MESSAGE_BYTES - 8_000
    read = DeadLetter.from_bytes(written.to_bytes())
    assert read == written
    assert (read.key is None, read.value is None) == (key is None, value is None)
    assert (key or b"").startswith(read.key or b"")
    assert (value or b"").startswith(read.value or b"")
    assert read.cut == ((read.key, read.value) != (key, value))
    assert read.key_size == (None if key is None else len(key))
    assert read.value_size == (None if value is None else len(value))


def test_a_dead_letter_is_whole_where_it_can_be() -> None:
    assert not letter(b"k" * 65_536, b"v" * 6_000_000).cut


@given(st.from_regex(r"[A-Za-z0-9._-]+", fullmatch=True), st.text())
def test_keys_split_at_the_first_bar(cluster: str, group: str) -> None:
    try:
        key = group_key(cluster, group)
    except UnicodeEncodeError:  # a lone surrogate is no Kafka string
        return
    assert split_group_key(key) == (cluster, group)


@pytest.mark.parametrize("key", [None, b"", b"prod", b"|g", b"a b|g", b"\xff|g"])
def test_keys_without_a_cluster_are_refused(key: bytes | None) -> None:
    with pytest.raises(ContractViolation):
        split_group_key(key)


def test_a_group_is_err_when_a_partition_is_worse_than_warn() -> None:
    assert {status.name: status.for_group().name for status in Status} == {
        "NOTFOUND": "NOTFOUND",
        "OK": "OK",
        "WARN": "WARN",
        "ERR": "ERR",
        "STOP": "ERR",
        "STALL": "ERR",
        "REWIND": "ERR",
        "BEYOND_END": "ERR",
    }


def test_reasons_are_one_per_partition() -> None:
    wrong = json.loads(example(LagEvent).to_bytes())
    wrong["topics"]["orders"]["reason"] = ["no_commit"]
    with pytest.raises(ContractViolation, match="differ in length from partition: reason"):
        LagEvent.from_bytes(json.dumps(wrong).encode())


@pytest.mark.parametrize("complete", [-0.1, 1.1, 1e308])
def test_a_share_is_one(complete: float) -> None:
    event = next(each for each in EVENTS if isinstance(each, LagEvent))
    body = json.loads(event.to_bytes()) | {"complete": complete}
    with pytest.raises(ContractViolation, match=r"^complete"):
        LagEvent.from_record(event.key, json.dumps(body).encode())


def test_topics_are_of_the_cluster_that_their_key_names() -> None:
    event = TopicsEvent(cluster="prod", observed_at=1, log_ends={"t": [5]})
    assert TopicsEvent.from_record(b"prod", event.to_bytes()) == event
    for key in (b"prod|x", b"other", None):
        with pytest.raises(ContractViolation, match=r"^key"):
            TopicsEvent.from_record(key, event.to_bytes())
