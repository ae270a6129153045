"""ConsumerGroupDescribe (KIP-848) and ShareGroupDescribe (KIP-932).

Schema: Kafka's JSON files of these names, request and response.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    Boolean,
    CompactArray,
    CompactString,
    Int8,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)
from warren.kafka.metadata import Uuid

_TEXT = CompactString("utf-8")
_NO_TAGS: dict[int, bytes] = {}


_ASSIGNMENT = Schema(
    (
        "topics",
        CompactArray(
            ("topic_id", Uuid),
            ("topic", _TEXT),
            ("partitions", CompactArray(Int32)),
            ("tags", TaggedFields),
        ),
    ),
    ("tags", TaggedFields),
)
_GROUP_IDS = Schema(
    ("groups", CompactArray(_TEXT)),
    ("include_authorized_operations", Boolean),
    ("tags", TaggedFields),
)


_CONSUMER = (
    ("member_id", _TEXT),
    ("instance_id", _TEXT),
    ("rack", _TEXT),
    ("member_epoch", Int32),
    ("client_id", _TEXT),
    ("client_host", _TEXT),
    ("subscription", CompactArray(_TEXT)),
    ("subscribed_regex", _TEXT),
    ("assignment", _ASSIGNMENT),
    ("target_assignment", _ASSIGNMENT),
)
_SHARE_CONSUMER = (
    ("member_id", _TEXT),
    ("rack", _TEXT),
    ("member_epoch", Int32),
    ("client_id", _TEXT),
    ("client_host", _TEXT),
    ("subscription", CompactArray(_TEXT)),
    ("assignment", _ASSIGNMENT),
)


def _described(*member: tuple[str, object]) -> Schema:
    """A response about groups whose members have these fields."""
    return Schema(
        ("throttle_time_ms", Int32),
        (
            "groups",
            CompactArray(
                ("error_code", Int16),
                ("error_message", _TEXT),
                ("group", _TEXT),
                ("state", _TEXT),
                ("group_epoch", Int32),
                ("assignment_epoch", Int32),
                ("assignor", _TEXT),
                ("members", CompactArray(*member, ("tags", TaggedFields))),
                ("authorized_operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class ConsumerGroupDescribeResponse_v0(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 69
    API_VERSION = 0
    SCHEMA = _described(*_CONSUMER)


class ConsumerGroupDescribeResponse_v1(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    """Version 1 says of each member whether it still speaks the classic protocol."""

    API_KEY = 69
    API_VERSION = 1
    SCHEMA = _described(*_CONSUMER, ("member_type", Int8))


class ConsumerGroupDescribeRequest_v0(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 69
    API_VERSION = 0
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = ConsumerGroupDescribeResponse_v0
    SCHEMA = _GROUP_IDS


class ConsumerGroupDescribeRequest_v1(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 69
    API_VERSION = 1
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = ConsumerGroupDescribeResponse_v1
    SCHEMA = _GROUP_IDS


class ShareGroupDescribeResponse_v1(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 77
    API_VERSION = 1
    SCHEMA = _described(*_SHARE_CONSUMER)


class ShareGroupDescribeRequest_v1(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 77
    API_VERSION = 1
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = ShareGroupDescribeResponse_v1
    SCHEMA = _GROUP_IDS


class DescribeConsumerGroups(
    Request[ConsumerGroupDescribeRequest_v0 | ConsumerGroupDescribeRequest_v1]  # type: ignore[misc]  # untyped base
):
    API_KEY = 69

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups = groups

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class(self._groups, False, _NO_TAGS)


class DescribeShareGroups(Request[ShareGroupDescribeRequest_v1]):  # type: ignore[misc]  # untyped base
    API_KEY = 77

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups = groups

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class(self._groups, False, _NO_TAGS)
