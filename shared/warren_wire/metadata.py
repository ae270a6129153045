"""Metadata of some topics, with topic ids: version 12 of the request, which aiokafka does not have
(KIP-516); and their configuration.

How requests and responses are laid out, field by field, after Kafka's JSON files of their names.

A request has a layout for each version that it can speak; aiokafka takes the last one in its list
that the broker knows too. Flexible versions (KIP-482) end each row in tags.
"""

import abc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, ClassVar

from aiokafka.errors import IncompatibleBrokerVersion
from aiokafka.protocol.admin import DescribeConfigsRequest
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.metadata import MetadataRequest_v4, MetadataRequest_v5
from aiokafka.protocol.types import (
    Array,
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    String,
    TaggedFields,
)

NO_ERROR = 0
OUT_OF_RANGE = 1
UNKNOWN_TOPIC = 3
INVALID_TOPIC = 17
NOT_AUTHORISED = 29
GROUP_NOT_AUTHORISED = 30

TOO_OLD = (NotImplementedError, IncompatibleBrokerVersion)
"""What sending a request raises that the broker does not know, or not with these values."""

TEXT = CompactString("utf-8")
OLD_TEXT = String("utf-8")
NO_TAGS: dict[int, bytes] = {}
_TAGS = ("tags", TaggedFields)


class Uuid:
    """16 bytes."""

    @staticmethod
    def encode(value: bytes) -> bytes:
        return value

    @staticmethod
    def decode(data: BytesIO) -> bytes:
        return data.read(16)

    @staticmethod
    def repr(value: bytes) -> str:
        return value.hex()


def row(**fields: Any) -> Schema:
    """Fields in this order, in a flexible version."""
    return Schema(*fields.items(), _TAGS)


def rows(**fields: Any) -> CompactArray:
    """Any number of such rows."""
    return CompactArray(*fields.items(), _TAGS)


def old_row(**fields: Any) -> Schema:
    """Fields in this order, in a version that is not flexible."""
    return Schema(*fields.items())


def old_rows(**fields: Any) -> Array:
    """Any number of such rows."""
    return Array(*fields.items())


def layout(
    key: int, version: int, *, request: Schema, response: Schema, is_flexible: bool = True
) -> type[RequestStruct]:
    """Of one version of the request with that key, and of the response to it."""
    numbers = {"API_KEY": key, "API_VERSION": version}
    answer = type(f"Response{key}_{version}", (Response,), {**numbers, "SCHEMA": response})
    fields = {"FLEXIBLE_VERSION": is_flexible, "RESPONSE_TYPE": answer, "SCHEMA": request}
    return type(f"Request{key}_{version}", (RequestStruct,), {**numbers, **fields})


class KafkaRequest(Request[RequestStruct]):  # type: ignore[misc]  # untyped base
    """A request, in whichever of its layouts the broker knows."""

    API_KEY = -1
    LAYOUTS: ClassVar[Sequence[type[RequestStruct]]]
    """By version."""

    def __init_subclass__(cls) -> None:
        cls.API_KEY, cls._CLASSES = cls.LAYOUTS[0].API_KEY, cls.LAYOUTS

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class(*self.values(request_struct_class.API_VERSION))

    @abc.abstractmethod
    def values(self, version: int, /) -> Sequence[Any]:
        """Of the fields in the layout of that version. Raises one of TOO_OLD."""


NO_TOPIC_ID = bytes(16)
NO_LEADER = -1
_TOPIC = 2  # the type of a resource that has a configuration
_FIRST_WITH_IDS = 10

_METADATA_12 = layout(
    3,
    12,
    request=row(
        topics=rows(topic_id=Uuid, topic=TEXT),
        allow_auto_topic_creation=Boolean,
        include_topic_authorized_operations=Boolean,
    ),
    response=row(
        throttle_time_ms=Int32,
        brokers=rows(node_id=Int32, host=TEXT, port=Int32, rack=TEXT),
        cluster_id=TEXT,
        controller_id=Int32,
        topics=rows(
            error_code=Int16,
            topic=TEXT,
            topic_id=Uuid,
            is_internal=Boolean,
            partitions=rows(
                error_code=Int16,
                partition=Int32,
                leader=Int32,
                leader_epoch=Int32,
                replicas=CompactArray(Int32),
                isr=CompactArray(Int32),
                offline_replicas=CompactArray(Int32),
            ),
            authorized_operations=Int32,
        ),
    ),
)


class TopicMetadataRequest(KafkaRequest):
    """Asks about some topics, None for all, and never creates one. Brokers before 3.0 answer
    without ids.
    """

    LAYOUTS = (MetadataRequest_v4, MetadataRequest_v5, _METADATA_12)

    def __init__(self, topics: Sequence[str] | None) -> None:
        self._topics = None if topics is None else list(topics)

    def values(self, version: int, /) -> Sequence[Any]:
        if version < _FIRST_WITH_IDS:
            return self._topics, False
        topics = None
        if self._topics is not None:
            topics = [(NO_TOPIC_ID, topic, NO_TAGS) for topic in self._topics]
        return topics, False, False, NO_TAGS


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """What a broker says of one topic; `error` is Kafka's code.

    `id` (hexadecimal) tells a topic from an earlier one of the same name; empty where brokers have
    no ids. `leaders`: broker by partition, or NO_LEADER.
    """

    name: str
    error: int
    id: str
    leaders: dict[int, int]


def described_topics(response: Any) -> Iterator[TopicDescription]:
    """The topics of a response to TopicMetadataRequest, of any version."""
    with_ids = response.API_VERSION >= _FIRST_WITH_IDS
    for error, name, *rest in response.topics:
        identity = rest[0] if with_ids else NO_TOPIC_ID
        partitions = rest[2] if with_ids else rest[1]
        yield TopicDescription(
            name=name,
            error=error,
            id="" if identity == NO_TOPIC_ID else identity.hex(),
            leaders={partition[1]: partition[2] for partition in partitions},
        )


def topic_configs_request(topics: Sequence[str], names: Sequence[str]) -> DescribeConfigsRequest:
    """Asks for these entries of the topics' configurations, the brokers' defaults among them."""
    return DescribeConfigsRequest([(_TOPIC, topic, list(names)) for topic in topics])


def topic_configs(response: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """(topic, its configuration) of a response to `topic_configs_request`; those with errors are
    left out.
    """
    for error, _message, _kind, topic, entries in response.resources:
        if error == NO_ERROR:
            yield topic, {entry[0]: entry[1] for entry in entries}
