"""DescribeLogDirs: how large a broker's replicas are. Needs DESCRIBE on the cluster.

Schema: Kafka's DescribeLogDirsRequest.json and DescribeLogDirsResponse.json, versions 1 and 3. What
is not allowed is an empty answer in version 1, a code in version 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    Array,
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Int64,
    Schema,
    String,
    TaggedFields,
)

from warren.kafka.metadata import NO_ERROR

_API_KEY = 35
_TEXT = CompactString("utf-8")
_OLD_TEXT = String("utf-8")
_NO_TAGS: dict[int, bytes] = {}


class DescribeLogDirsResponse_v1(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 1
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "log_dirs",
            Array(
                ("error_code", Int16),
                ("log_dir", _OLD_TEXT),
                (
                    "topics",
                    Array(
                        ("topic", _OLD_TEXT),
                        (
                            "partitions",
                            Array(
                                ("partition", Int32),
                                ("size", Int64),
                                ("offset_lag", Int64),
                                ("is_future", Boolean),
                            ),
                        ),
                    ),
                ),
            ),
        ),
    )


class DescribeLogDirsRequest_v1(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 1
    RESPONSE_TYPE = DescribeLogDirsResponse_v1
    SCHEMA = Schema(("topics", Array(("topic", _OLD_TEXT), ("partitions", Array(Int32)))))


class DescribeLogDirsResponse_v3(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 3
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("error_code", Int16),
        (
            "log_dirs",
            CompactArray(
                ("error_code", Int16),
                ("log_dir", _TEXT),
                (
                    "topics",
                    CompactArray(
                        ("topic", _TEXT),
                        (
                            "partitions",
                            CompactArray(
                                ("partition", Int32),
                                ("size", Int64),
                                ("offset_lag", Int64),
                                ("is_future", Boolean),
                                ("tags", TaggedFields),
                            ),
                        ),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class DescribeLogDirsRequest_v3(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 3
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = DescribeLogDirsResponse_v3
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("topic", _TEXT), ("partitions", CompactArray(Int32)), ("tags", TaggedFields)
            ),
        ),
        ("tags", TaggedFields),
    )


class DescribeLogDirsRequest(Request[DescribeLogDirsRequest_v1 | DescribeLogDirsRequest_v3]):  # type: ignore[misc]  # untyped base
    """For the broker that has these partitions, by topic."""

    API_KEY = _API_KEY

    def __init__(self, partitions: Mapping[str, Sequence[int]]) -> None:
        self._partitions = partitions

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        listed = [(topic, list(numbers)) for topic, numbers in self._partitions.items()]
        if request_struct_class is DescribeLogDirsRequest_v1:
            return request_struct_class(listed)
        return request_struct_class([(*topic, _NO_TAGS) for topic in listed], _NO_TAGS)


class LogSize(NamedTuple):
    """Bytes of a partition's log."""

    topic: str
    partition: int
    size: int


def is_refused(response: Any) -> bool:
    """Whether DESCRIBE on the cluster is not granted."""
    error: int = getattr(response, "error_code", NO_ERROR)
    return error != NO_ERROR or not response.log_dirs


def log_sizes(response: Any) -> Iterator[LogSize]:
    """Of replicas in use, not of those that are being moved to another directory."""
    for error, _directory, topics, *_ in response.log_dirs:
        if error != NO_ERROR:
            continue
        for topic, partitions, *_ in topics:
            for partition, size, _lag, is_future, *_ in partitions:
                if not is_future:
                    yield LogSize(topic, partition, size)
