"""Contracts as Spark schemas."""

from collections.abc import Iterator

import pytest
from archiver.sql_tables import view_schema
from pydantic import BaseModel
from pyspark.sql.types import ArrayType, DataType, LongType, MapType, StringType, StructType
from warren.contracts import DeadLetter, LagEvent, OffsetEvent, StatusChangeEvent
from warren.contracts.topics import CATALOGUE, LAG, LAG_STATUS, Topic
from warren_archiver.lake.contract_view import COORDINATES, stored, struct_of, versions


@pytest.mark.parametrize("topic", CATALOGUE, ids=lambda topic: topic.name)
def test_every_field_of_a_contract_is_a_column_in_its_order(topic: Topic) -> None:
    assert struct_of(topic.event).names == list(topic.event.model_fields)


@pytest.mark.parametrize("topic", CATALOGUE, ids=lambda topic: topic.name)
def test_a_view_has_the_coordinates_and_the_contract_without_collisions(topic: Topic) -> None:
    columns = view_schema(topic).names
    assert len(columns) == len(set(columns))
    assert columns[:6] == COORDINATES.names
    assert columns[6:8] == ["kafka_value", "deleted"]
    assert columns[-1] == "date"
    assert set(columns) >= set(topic.event.model_fields)


def test_columns_of_partitions_become_a_map_of_structs_of_arrays() -> None:
    assert struct_of(OffsetEvent)["topics"].dataType.simpleString() == (
        "map<string,struct<partition:array<bigint>,committed:array<bigint>,"
        "committed_at:array<bigint>,commits:array<bigint>,log_start:array<bigint>,"
        "log_end:array<bigint>,leader:array<bigint>,last_stable:array<bigint>,owned:array<bigint>>>"
    )


def test_nested_models_are_structs_and_times_timestamps() -> None:
    schema = struct_of(StatusChangeEvent)
    assert schema["time"].dataType.simpleString() == "timestamp"
    assert isinstance(schema["data"].dataType, StructType)
    data = schema["data"].dataType
    assert data["partition_counts"].dataType == MapType(StringType(), LongType(), False)


def test_base64_is_binary() -> None:
    assert struct_of(DeadLetter)["value"].dataType.simpleString() == "binary"


def test_null_is_allowed_where_the_contract_allows_null_or_absence() -> None:
    schema = struct_of(LagEvent)
    assert not schema["cluster"].nullable
    assert schema["incident"].nullable  # may be null
    assert schema["position"].nullable  # has a default
    topics = schema["topics"].dataType
    assert isinstance(topics, MapType)
    topic = topics.valueType
    assert isinstance(topic, StructType)
    assert topic["lag"].dataType == ArrayType(LongType(), True)
    assert topic["committed"].dataType == ArrayType(LongType(), False)


def _nullable(data_type: DataType) -> Iterator[bool]:
    match data_type:
        case StructType():
            for field in data_type:
                yield field.nullable
                yield from _nullable(field.dataType)
        case ArrayType():
            yield data_type.containsNull
            yield from _nullable(data_type.elementType)
        case MapType():
            yield data_type.valueContainsNull
            yield from _nullable(data_type.valueType)


def test_what_is_stored_is_nullable_throughout() -> None:
    schema = struct_of(LagEvent)
    assert not all(_nullable(schema))
    assert all(_nullable(stored(schema)))
    assert stored(schema).simpleString() == schema.simpleString()


def test_versions_are_those_of_the_contract() -> None:
    assert versions(LAG.event) == (1,)
    assert versions(LAG_STATUS.event) == ()


def test_an_annotation_without_a_counterpart_names_its_field() -> None:
    class Odd(BaseModel):
        either: int | str

    with pytest.raises(TypeError, match=r"Odd\.either"):
        struct_of(Odd)
