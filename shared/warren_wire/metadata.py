"""Metadata of some topics, with topic ids: version 12 of the request, which aiokafka does not have
(KIP-516); and their configuration.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka.protocol.admin import DescribeConfigsRequest
from aiokafka.protocol.metadata import MetadataRequest_v4, MetadataRequest_v5
from aiokafka.protocol.types import Boolean, CompactArray, Int16, Int32

from warren_wire.layout import NO_ERROR, NO_TAGS, TEXT, KafkaRequest, Uuid, layout, row, rows

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
