"""ListGroups versions 2, 4 and 5: the groups that the asked broker coordinates.

Schema: Kafka's ListGroupsRequest.json and ListGroupsResponse.json. aiokafka has version 2 (no
states, no types); 4 added the state (KIP-518), 5 the type (KIP-848).
"""

from __future__ import annotations

from aiokafka.protocol.admin import ListGroupsRequest_v2
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import CompactArray, CompactString, Int16, Int32, Schema, TaggedFields

_API_KEY = 16
_TEXT = CompactString("utf-8")
_NO_TAGS: dict[int, bytes] = {}


class ListGroupsResponse_v4(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 4
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("error_code", Int16),
        (
            "groups",
            CompactArray(
                ("group", _TEXT), ("protocol_type", _TEXT), ("state", _TEXT), ("tags", TaggedFields)
            ),
        ),
        ("tags", TaggedFields),
    )


class ListGroupsResponse_v5(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 5
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("error_code", Int16),
        (
            "groups",
            CompactArray(
                ("group", _TEXT),
                ("protocol_type", _TEXT),
                ("state", _TEXT),
                ("type", _TEXT),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class ListGroupsRequest_v4(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 4
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = ListGroupsResponse_v4
    SCHEMA = Schema(("states", CompactArray(_TEXT)), ("tags", TaggedFields))


class ListGroupsRequest_v5(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = _API_KEY
    API_VERSION = 5
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = ListGroupsResponse_v5
    SCHEMA = Schema(
        ("states", CompactArray(_TEXT)), ("types", CompactArray(_TEXT)), ("tags", TaggedFields)
    )


class ListAllGroups(Request[ListGroupsRequest_v2 | ListGroupsRequest_v4 | ListGroupsRequest_v5]):  # type: ignore[misc]  # untyped base
    """Groups of every state and type."""

    API_KEY = _API_KEY

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        if request_struct_class is ListGroupsRequest_v5:
            return request_struct_class([], [], _NO_TAGS)
        if request_struct_class is ListGroupsRequest_v4:
            return request_struct_class([], _NO_TAGS)
        return request_struct_class()
