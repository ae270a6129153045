"""DescribeGroups: groups of the classic protocol, as their coordinator describes them.

Schema: Kafka's JSON files of this name, request and response. aiokafka has version 3 (no static
members' instance ids). Not by librdkafka's AdminClient: to version 2.16 it ends the process
(`eonce->refcnt > 0`) when the connection to a coordinator breaks at the wrong moment
(confluentinc/librdkafka issue 4605).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaError,
    NotCoordinatorForGroupError,
    for_code,
)
from aiokafka.protocol.admin import DescribeGroupsRequest_v3
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.coordination import FindCoordinatorRequest
from aiokafka.protocol.types import Array, Boolean, Bytes, Int16, Int32, Schema, String
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from warren.kafka.brokers import Brokers

_TEXT = String("utf-8")
_GROUP = 0  # what FindCoordinator is asked for
_NOT_TOLD = -(2**31)
_MOVES_WITHIN = 10.0  # seconds that a coordinator may take to be there
_MOVING = (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)


class DescribeGroupsResponse_v4(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 15
    API_VERSION = 4
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "groups",
            Array(
                ("error_code", Int16),
                ("group", _TEXT),
                ("state", _TEXT),
                ("protocol_type", _TEXT),
                ("protocol", _TEXT),
                (
                    "members",
                    Array(
                        ("member_id", _TEXT),
                        ("instance_id", _TEXT),
                        ("client_id", _TEXT),
                        ("client_host", _TEXT),
                        ("subscription", Bytes),
                        ("assignment", Bytes),
                    ),
                ),
                ("authorized_operations", Int32),
            ),
        ),
    )


class DescribeGroupsRequest_v4(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 15
    API_VERSION = 4
    RESPONSE_TYPE = DescribeGroupsResponse_v4
    SCHEMA = Schema(("groups", Array(_TEXT)), ("include_authorized_operations", Boolean))


class DescribeClassicGroups(Request[DescribeGroupsRequest_v3 | DescribeGroupsRequest_v4]):  # type: ignore[misc]  # untyped base
    API_KEY = 15

    def __init__(self, groups: Sequence[str], *, with_operations: bool = False) -> None:
        self._groups = groups
        self._with_operations = with_operations

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class(self._groups, self._with_operations)


class ClassicMember(NamedTuple):
    """Who it says it is, and where it comes from."""

    client_id: str
    host: str


class ClassicGroup(NamedTuple):
    """`authorized_operations`: bits numbered as in AclOperation (KIP-430); None: not told."""

    members: Sequence[ClassicMember]
    authorized_operations: int | None


@retry(
    retry=retry_if_exception_type(_MOVING),
    wait=wait_fixed(0.2),
    stop=stop_after_delay(_MOVES_WITHIN),
    reraise=True,
)
async def describe_group(brokers: Brokers, group: str) -> ClassicGroup:
    """A group that is not there has no members.

    Raises ClusterUnreachable, AuthenticationFailed, or one of UNANSWERED: also what the coordinator
    refuses, by its class in aiokafka.errors.
    """
    await brokers.metadata([])
    found = await brokers.send_to_any(FindCoordinatorRequest(group, _GROUP))
    _check(found.error_code)
    request = DescribeClassicGroups([group], with_operations=True)
    answer = await brokers.send(found.coordinator_id, request)
    (described,) = answer.to_object()["groups"]
    _check(described["error_code"])
    operations = described.get("authorized_operations", _NOT_TOLD)
    return ClassicGroup(
        [ClassicMember(m["client_id"], m["client_host"]) for m in described["members"]],
        None if operations == _NOT_TOLD else operations,
    )


def _check(error_code: int) -> None:
    if error_code:
        error: type[KafkaError] = for_code(error_code)
        raise error
