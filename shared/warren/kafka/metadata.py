"""Metadata of some topics, with topic ids: version 12 of the request, which aiokafka does not have.

Schema: Kafka's MetadataRequest.json and MetadataResponse.json (KIP-516 added the id).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.metadata import MetadataRequest_v4, MetadataRequest_v5
from aiokafka.protocol.types import (
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

NO_TOPIC_ID = bytes(16)
NO_LEADER = -1
NO_ERROR = 0
UNKNOWN_TOPIC = 3
INVALID_TOPIC = 17
NOT_AUTHORISED = 29
_API_KEY = 3


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


class MetadataResponse_v12(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 12
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32),
                ("host", CompactString("utf-8")),
                ("port", Int32),
                ("rack", CompactString("utf-8")),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_id", CompactString("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("topic", CompactString("utf-8")),
                ("topic_id", Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline_replicas", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("authorized_operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class MetadataRequest_v12(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 12
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = MetadataResponse_v12
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("topic_id", Uuid), ("topic", CompactString("utf-8")), ("tags", TaggedFields)
            ),
        ),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class TopicMetadataRequest(Request[MetadataRequest_v4 | MetadataRequest_v5 | MetadataRequest_v12]):  # type: ignore[misc]  # untyped base
    """Asks about some topics, None for all, and never creates one. Brokers before 3.0 answer
    without ids.
    """

    API_KEY = _API_KEY

    def __init__(self, topics: Sequence[str] | None) -> None:
        self._topics = None if topics is None else list(topics)

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        if request_struct_class is MetadataRequest_v12:
            no_tags: dict[int, bytes] = {}
            topics = None
            if self._topics is not None:
                topics = [(NO_TOPIC_ID, topic, no_tags) for topic in self._topics]
            return request_struct_class(topics, False, False, no_tags)
        return request_struct_class(self._topics, False)


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
    with_ids = isinstance(response, MetadataResponse_v12)
    for error, name, *rest in response.topics:
        identity = rest[0] if with_ids else NO_TOPIC_ID
        partitions = rest[2] if with_ids else rest[1]
        yield TopicDescription(
            name=name,
            error=error,
            id="" if identity == NO_TOPIC_ID else identity.hex(),
            leaders={partition[1]: partition[2] for partition in partitions},
        )
