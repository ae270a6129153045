"""OffsetFetch: version 8 asks about many groups at once (KIP-709), version 3 about one.

Schema: Kafka's OffsetFetchRequest.json and OffsetFetchResponse.json. aiokafka has version 3.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.commit import OffsetFetchRequest_v3
from aiokafka.protocol.types import (
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

from warren_collector.admin.offset_fetch_partitions import OffsetFetchPartitions

_API_KEY = 9
_TEXT = CompactString("utf-8")
_ALL_TOPICS = None
_NO_TAGS: dict[int, bytes] = {}


class OffsetFetchResponse_v8(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 8
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "groups",
            CompactArray(
                ("group", _TEXT),
                (
                    "topics",
                    CompactArray(
                        ("topic", _TEXT),
                        ("partitions", OffsetFetchPartitions),
                        ("tags", TaggedFields),
                    ),
                ),
                ("error_code", Int16),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class OffsetFetchRequest_v8(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 8
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = OffsetFetchResponse_v8
    SCHEMA = Schema(
        (
            "groups",
            CompactArray(
                ("group", _TEXT),
                (
                    "topics",
                    CompactArray(
                        ("topic", _TEXT),
                        ("partitions", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("require_stable", Boolean),
        ("tags", TaggedFields),
    )


class FetchOffsetsOfGroups(Request[OffsetFetchRequest_v8]):  # type: ignore[misc]  # untyped base
    """All committed offsets of several groups. Brokers before 3.0 do not know it."""

    API_KEY = _API_KEY

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups = groups

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        groups = [(group, _ALL_TOPICS, _NO_TAGS) for group in self._groups]
        return request_struct_class(groups, False, _NO_TAGS)


class FetchOffsetsOfGroup(Request[OffsetFetchRequest_v3]):  # type: ignore[misc]  # untyped base
    """All committed offsets of one group."""

    API_KEY = _API_KEY

    def __init__(self, group: str) -> None:
        self._group = group

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class(self._group, _ALL_TOPICS)
