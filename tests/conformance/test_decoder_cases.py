"""Every case of Burrow's decoder tests; where Kafka's schema says otherwise, Kafka's holds."""

from collections.abc import Callable
from typing import Any

import pytest
from support.conformance import conformance_cases
from support.whole_records import OffsetCommit, decode_record
from warren.errors import MalformedRecord
from warren_collector.cluster.filters import NameFilter
from warren_wire.records import Buffer, GroupMetadata, Malformed, Skipped, read_offset_commit_key
from warren_wire.records.assignment import read_assignment_body
from warren_wire.records.group_metadata import read_header, read_member
from warren_wire.records.offset_commit import read_offset_commit_value

# Kafka's names of the fields (as our errors have them) for those of the case file.
FIELDS = {
    "leaderEpoch": "leader_epoch",
    "timestamp": "commit_timestamp",
    "subscription_bytes": "subscription",
    "assignment_bytes": "assignment",
    "consumer_protocol_version": "assignment.version",
    "assignment": "assignment.partitions.count",
    "assignment_topic_count": "assignment.topics",
    "topic_name": "assignment.topic",
    "assignment_partition_count": "assignment.partitions.count",
    "assignment_partition_id": "assignment.partitions",
}


def _key(buffer: Buffer) -> dict[str, Any]:
    key = read_offset_commit_key(buffer)
    return {"group": key.group, "topic": key.topic, "partition": key.partition}


def _value(version: int) -> Callable[[Buffer], dict[str, Any]]:
    def read(buffer: Buffer) -> dict[str, Any]:
        value = read_offset_commit_value(buffer, version)
        return {"offset": value.offset, "timestamp_ms": value.timestamp_ms}

    return read


def _header(buffer: Buffer, version: int = 0) -> dict[str, Any]:
    header = read_header(buffer, version)
    return {
        "value_version": version,
        "protocol_type": header.protocol_type,
        "generation": header.generation,
        "protocol": header.protocol,
        "leader": header.leader,
        "current_state_timestamp": header.state_at,
    }


def _group_value(buffer: Buffer) -> dict[str, Any]:
    return _header(buffer, buffer.int16("version"))


def _member(version: int) -> Callable[[Buffer], dict[str, Any]]:
    def read(buffer: Buffer) -> dict[str, Any]:
        member = read_member(buffer, version)
        return {
            "member_id": member.member_id,
            "group_instance_id": member.instance_id or "",  # Burrow folds null into empty
            "client_id": member.client_id,
            "client_host": member.host,
            "rebalance_timeout": member.rebalance_timeout_ms,
            "session_timeout": member.session_timeout_ms,
            "assignment": dict(member.assignment),
        }

    return read


READERS: dict[str, Callable[[Buffer], dict[str, Any]]] = {
    "string": lambda b: {"value": b.string("value")},
    "compact_string": lambda b: {"value": b.nullable_string("value", compact=True) or ""},
    "group_metadata_header_v0": _header,
    "group_metadata_value": _group_value,
    "group_member_v1": _member(1),
    "group_member_v3": _member(3),
    "member_assignment_body": lambda b: {"assignment": dict(read_assignment_body(b).partitions)},
    "offset_key_body": _key,
    "offset_value_body_v0": _value(0),
    "offset_value_body_v3": _value(3),
    "offset_value_body_v4": _value(4),
}


def check_part(case: dict[str, Any]) -> None:
    expected = {name: value for name, value in case["expected"].items() if name != "note"}
    buffer = Buffer(bytes.fromhex(case["bytes_hex"]))
    if expected.keys() & {"error", "error_at"}:
        with pytest.raises(MalformedRecord) as raised:
            READERS[case["level"]](buffer)
        at = expected.get("error_at")
        assert at is None or raised.value.field == FIELDS.get(at, at)
        return
    read = READERS[case["level"]](buffer)
    assert {name: read[name] for name in expected} == expected


def check_record(case: dict[str, Any]) -> None:
    expected = case["expected"]
    if "kafka_schema_disagrees" in case:
        expected = {"kind": "offset_commit", "offset": 8372, "timestamp_ms": 1637}
    (record,) = decode_record(bytes.fromhex(case["key_hex"]), bytes.fromhex(case["value_hex"]))
    groups = NameFilter(allow=[case.get("group_allowlist", ".")], deny=[])
    match expected["kind"]:
        case "offset_commit":
            assert isinstance(record, OffsetCommit)
            assert groups.accepts(record.group)
            named = expected.keys() & {"group", "topic", "partition", "offset", "timestamp_ms"}
            assert {name: getattr(record, name) for name in named} == {
                name: expected[name] for name in named
            }
        case "partition_owner":
            assert isinstance(record, GroupMetadata)
            assert record.group == expected["group"]
            (member,) = record.members
            assert member.assignment == {expected["topic"]: [expected["partition"]]}
            assert (member.host, member.client_id) == (expected["owner"], expected["client_id"])
        case "none":
            filtered = isinstance(record, OffsetCommit) and not groups.accepts(record.group)
            assert filtered or isinstance(record, Malformed | Skipped)


@pytest.mark.parametrize("index", range(69))
def test_decoder_case(index: int) -> None:
    cases = conformance_cases("burrow/decoder_cases.json")["cases"]
    assert len(cases) == 69
    case = cases[index]
    (check_record if case["level"] == "record" else check_part)(case)


def test_group_filter_cases() -> None:
    for case in conformance_cases("burrow/storage_cases.json")["group_filter_cases"]["cases"]:
        regex = case["regex"]
        for group in case["match"]:
            assert NameFilter(allow=[regex], deny=[]).accepts(group)
            assert not NameFilter(allow=[], deny=[regex]).accepts(group)
        for group in case["no_match"]:
            assert not NameFilter(allow=[regex], deny=[]).accepts(group)
            assert NameFilter(allow=[], deny=[regex]).accepts(group)
