"""What Kafka's own schema files allow is decoded field by field, and cut off nowhere in silence."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.kafka_schemas import Fields, Schema, snake_case
from support.whole_records import GroupRecordDeleted, OffsetCommit, Record, decode_record
from warren_wire.records import (
    KINDS,
    OFFSET_COMMIT,
    GroupKey,
    GroupMetadata,
    GroupRecord,
    Malformed,
    Subscription,
)

# Without those that Kafka 4.3 does not have (any more, or yet).
GROUP_KINDS = sorted(KINDS.keys() - OFFSET_COMMIT - {2, 9, 18, 24})
quick = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow], deadline=None)
Schemas = dict[str, Schema]


def only(key: bytes, value: bytes | None) -> Record:
    (record,) = decode_record(key, value)
    return record


def key_schema(schemas: Schemas, key_version: int) -> Schema:
    return schemas[f"{KINDS[key_version].name}Key"]


def value_schema(schemas: Schemas, key_version: int) -> Schema:
    return schemas[f"{KINDS[key_version].name}Value"]


def encoded_key(schemas: Schemas, key_version: int, values: Fields) -> bytes:
    # A key begins with its kind, where a value has its version.
    content = key_schema(schemas, key_version).encoded(values, 0)
    return key_version.to_bytes(2, "big") + content[2:]


def encoded_group_key(schemas: Schemas, key: GroupKey) -> bytes:
    names = [field["name"] for field in key_schema(schemas, key.version).definition["fields"]]
    return encoded_key(schemas, key.version, dict(zip(names, key[1:], strict=False)))


def test_every_kind_of_the_broker_is_known(schemas: Schemas) -> None:
    values = [s for s in schemas.values() if s.definition["type"] == "coordinator-value"]
    assert {s.key_version: s.name for s in values} == {
        version: f"{kind.name}Value"
        for version, kind in KINDS.items()
        if version not in (9, 18, 24)
    }
    for schema in values:
        newest = {0: 0, 1: 4, 2: 4}.get(schema.key_version, 0)
        assert schema.versions == range(newest + 1)


@pytest.mark.parametrize("key_version", GROUP_KINDS)
@quick
@given(data=st.data())
def test_values_about_groups(schemas: Schemas, key_version: int, data: st.DataObject) -> None:
    schema = value_schema(schemas, key_version)
    values = data.draw(schema.values(0))
    key = GroupKey(key_version, "billing", "part" if KINDS[key_version].part else "")
    record = only(encoded_group_key(schemas, key), schema.encoded(values, 0))
    assert record == GroupRecord(key, schema.decoded(values))


@pytest.mark.parametrize("key_version", GROUP_KINDS)
@quick
@given(data=st.data())
def test_a_value_about_a_group_is_cut_off_nowhere_in_silence(
    schemas: Schemas, key_version: int, data: st.DataObject
) -> None:
    schema = value_schema(schemas, key_version)
    value = schema.encoded(data.draw(schema.values(0)), 0)
    size = data.draw(st.integers(0, len(value) - 1))
    key = encoded_group_key(schemas, GroupKey(key_version, "billing", "part"))
    record = only(key, value[:size])
    assert isinstance(record, Malformed)
    assert record.at <= size
    assert record.reason.startswith(f"{record.field}: ")
    names = [field["name"] for field in schema.definition["fields"]]
    expected = {"version", "tagged_fields", *(snake_case(name) for name in names)}
    assert record.field.split(".")[1] in expected


@pytest.mark.parametrize("key_version", GROUP_KINDS)
def test_a_key_is_cut_off_nowhere_in_silence(schemas: Schemas, key_version: int) -> None:
    part = "part" if KINDS[key_version].part else ""
    key = encoded_group_key(schemas, GroupKey(key_version, "billing", part))
    assert only(key, None) == GroupRecordDeleted(GroupKey(key_version, "billing", part))
    for size in range(len(key)):
        record = only(key[:size], None)
        assert isinstance(record, Malformed)
        assert record.field.startswith("key.")
        assert record.at <= size


@pytest.mark.parametrize("key_version", GROUP_KINDS)
@quick
@given(data=st.data())
def test_tags_of_later_versions_are_read_over(
    schemas: Schemas, key_version: int, data: st.DataObject
) -> None:
    schema = value_schema(schemas, key_version)
    values = data.draw(schema.values(0))
    key = GroupKey(key_version, "billing", "part" if KINDS[key_version].part else "")
    record = only(encoded_group_key(schemas, key), schema.encoded(values, 0, more_tags=b"new"))
    assert record == GroupRecord(key, schema.decoded(values))
    assert isinstance(record, GroupRecord)


@pytest.mark.parametrize("version", range(5))
@quick
@given(data=st.data())
def test_committed_offsets(schemas: Schemas, version: int, data: st.DataObject) -> None:
    schema = value_schema(schemas, 1)
    values = data.draw(schema.values(version))
    names = {"group": "billing", "topic": "orders", "partition": 3}
    record = only(encoded_key(schemas, 1, names), schema.encoded(values, version))
    assert isinstance(record, OffsetCommit)
    assert (record.group, record.topic, record.partition) == ("billing", "orders", 3)
    assert record.offset == values["offset"]
    assert record.timestamp_ms == values["commitTimestamp"]
    assert record.metadata == values["metadata"]
    assert record.leader_epoch == values.get("leaderEpoch", -1)
    topic_id = values.get("topicId")
    assert record.topic_id == (topic_id if topic_id and topic_id.int else None)


def client_bytes(schema: Schema, values: Fields, version: int) -> bytes:
    return schema.encoded(values, min(version, schema.versions[-1]))[2:]


@pytest.mark.parametrize("version", range(5))
@quick
@given(protocol_version=st.integers(0, 4), data=st.data())
def test_classic_groups(
    schemas: Schemas, version: int, protocol_version: int, data: st.DataObject
) -> None:
    """Protocol version 4 stands for one that is not there yet: it is read as version 3."""
    schema = value_schema(schemas, 2)
    assignment, subscription = (
        schemas[f"ConsumerProtocol{name}"] for name in ("Assignment", "Subscription")
    )
    known = min(protocol_version, 3)
    assigned = data.draw(assignment.values(known))
    wanted = data.draw(subscription.values(known))
    prefix = protocol_version.to_bytes(2, "big")
    values = data.draw(
        schema.values(
            version,
            protocolType=st.just("consumer"),
            assignment=st.just(prefix + client_bytes(assignment, assigned, known)),
            subscription=st.just(prefix + client_bytes(subscription, wanted, known)),
        )
    )
    record = only(encoded_key(schemas, 2, {"group": "billing"}), schema.encoded(values, version))
    assert isinstance(record, GroupMetadata)
    assert (record.group, record.protocol_type) == ("billing", "consumer")
    assert (record.generation, record.protocol) == (values["generation"], values["protocol"])
    assert record.leader == values["leader"]
    assert record.state_at == values.get("currentStateTimestamp", -1)
    for member, expected in zip(record.members, values["members"], strict=True):
        assert (member.member_id, member.client_id) == (expected["memberId"], expected["clientId"])
        assert member.instance_id == expected.get("groupInstanceId")
        assert member.host == expected["clientHost"]
        assert member.rebalance_timeout_ms == expected.get("rebalanceTimeout", -1)
        assert member.session_timeout_ms == expected["sessionTimeout"]
        assert member.assignment == by_topic(assigned["AssignedPartitions"])
        assert member.user_data == assigned["UserData"]
        assert member.subscription == expected["subscription"]
        assert member.subscribed == Subscription(
            topics=tuple(wanted["Topics"]),
            user_data=wanted["UserData"],
            owned=by_topic(wanted.get("OwnedPartitions", [])),
            generation=wanted.get("GenerationId", -1),
            rack=wanted.get("RackId"),
        )


def by_topic(topics: list[dict[str, Any]]) -> dict[str, list[int]]:
    partitions: dict[str, list[int]] = {}
    for topic in topics:
        partitions.setdefault(topic["Topic"], []).extend(topic["Partitions"])
    return partitions
