"""Offsets by time, and the largest timestamp of a log: version 8 of ListOffsets, which aiokafka
does not have, and the earlier ones for what these can tell.

Schema: Kafka's ListOffsetsRequest.json and ListOffsetsResponse.json.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aiokafka.errors import IncompatibleBrokerVersion
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.offset import OffsetRequest_v1, OffsetRequest_v2, OffsetRequest_v3
from aiokafka.protocol.types import (
    CompactArray,
    CompactString,
    Int8,
    Int16,
    Int32,
    Int64,
    Schema,
    TaggedFields,
)

EARLIEST = -2
LARGEST_TIMESTAMP = -3
"""Instead of a time: the record with the largest timestamp (KIP-734, brokers from 3.0 on)."""
EARLIEST_LOCAL = -4
"""Instead of a time: the first record on the broker's own disk (KIP-405, from 3.6 on)."""
NOT_FOUND = -1
READ_UNCOMMITTED = 0
_API_KEY = 2
_CLIENT = -1  # "replica id" of one that is not a replica
_NO_EPOCH = -1
_Partition = tuple[str, int]
# Before these versions such a number was taken for a time like any other.
_FIRST_VERSION = {LARGEST_TIMESTAMP: 7, EARLIEST_LOCAL: 8}


class FoundOffset(NamedTuple):
    """`timestamp` of the record at `offset`, Unix ms; both are NOT_FOUND where there is none."""

    timestamp: int
    offset: int


class ListOffsetsResponse_v8(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 8
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "topics",
            CompactArray(
                ("topic", CompactString("utf-8")),
                (
                    "partitions",
                    CompactArray(
                        ("partition", Int32),
                        ("error_code", Int16),
                        ("timestamp", Int64),
                        ("offset", Int64),
                        ("leader_epoch", Int32),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class ListOffsetsRequest_v8(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 8
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = ListOffsetsResponse_v8
    SCHEMA = Schema(
        ("replica_id", Int32),
        ("isolation_level", Int8),
        (
            "topics",
            CompactArray(
                ("topic", CompactString("utf-8")),
                (
                    "partitions",
                    CompactArray(
                        ("partition", Int32),
                        ("current_leader_epoch", Int32),
                        ("timestamp", Int64),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


_Version = OffsetRequest_v1 | OffsetRequest_v2 | OffsetRequest_v3 | ListOffsetsRequest_v8


class ListOffsetsRequest(Request[_Version]):  # type: ignore[misc]  # untyped base
    """For each partition the first record whose timestamp is that large, or one of the constants
    above. Sending it raises IncompatibleBrokerVersion where the broker does not know a constant."""

    API_KEY = _API_KEY

    def __init__(self, times: Mapping[_Partition, int], isolation: int = READ_UNCOMMITTED) -> None:
        self._isolation = isolation
        self._needs = max(map(_first_version, times.values()), default=0)
        self._topics: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for (topic, partition), time in times.items():
            self._topics[topic].append((partition, time))

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        version = request_struct_class.API_VERSION
        if version < self._needs:
            raise IncompatibleBrokerVersion(f"ListOffsets {self._needs} is needed, not {version}")
        if request_struct_class is ListOffsetsRequest_v8:
            return request_struct_class(_CLIENT, self._isolation, self._flexible_topics(), {})
        topics = list(self._topics.items())
        if version == 1:
            return request_struct_class(_CLIENT, topics)
        return request_struct_class(_CLIENT, self._isolation, topics)

    def _flexible_topics(self) -> list[Any]:
        return [
            (topic, [(partition, _NO_EPOCH, time, {}) for partition, time in partitions], {})
            for topic, partitions in self._topics.items()
        ]


def listed_offsets(response: Any) -> Iterator[tuple[_Partition, int, FoundOffset]]:
    """(partition, Kafka's error code, what was found) of a response to ListOffsetsRequest."""
    for topic, partitions, *_ in response.topics:
        for partition, error, timestamp, offset, *_ in partitions:
            yield (topic, partition), error, FoundOffset(timestamp, offset)


def _first_version(time: int) -> int:
    return _FIRST_VERSION.get(time, 0)
