"""Groups as their coordinators list and describe them: ListGroups, DescribeGroups,
ConsumerGroupDescribe (KIP-848) and ShareGroupDescribe (KIP-932).

Not by librdkafka's AdminClient: to version 2.16 it ends the process (`eonce->refcnt > 0`) when the
connection to a coordinator breaks at the wrong moment (confluentinc/librdkafka issue 4605).
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from aiokafka.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaError,
    NotCoordinatorForGroupError,
    for_code,
)
from aiokafka.protocol.admin import DescribeGroupsRequest_v3, ListGroupsRequest_v2
from aiokafka.protocol.coordination import FindCoordinatorRequest
from aiokafka.protocol.types import Array, Boolean, Bytes, CompactArray, Int8, Int16, Int32, Schema
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from warren_wire.brokers import Brokers
from warren_wire.metadata import (
    NO_TAGS,
    OLD_TEXT,
    TEXT,
    KafkaRequest,
    Uuid,
    layout,
    old_row,
    old_rows,
    row,
    rows,
)

GroupRefused = GroupAuthorizationFailedError
"""DESCRIBE on the group is not granted."""
_GROUP = 0  # what FindCoordinator is asked for
_NOT_TOLD = -(2**31)
_MOVES_WITHIN = 10.0  # seconds that a coordinator may take to be there
_MOVING = (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)


def _groups(**fields: Any) -> Schema:
    """A response to ListGroups."""
    listed = rows(group=TEXT, protocol_type=TEXT, state=TEXT, **fields)
    return row(throttle_time_ms=Int32, error_code=Int16, groups=listed)


class ListAllGroups(KafkaRequest):
    """Groups of every state and type that the asked broker coordinates. Version 4 added the state
    (KIP-518), 5 the type (KIP-848).
    """

    LAYOUTS = (
        ListGroupsRequest_v2,
        layout(16, 4, request=row(states=CompactArray(TEXT)), response=_groups()),
        layout(
            16,
            5,
            request=row(states=CompactArray(TEXT), types=CompactArray(TEXT)),
            response=_groups(type=TEXT),
        ),
    )

    def values(self, version: int, /) -> Sequence[Any]:
        return {2: (), 4: ([], NO_TAGS), 5: ([], [], NO_TAGS)}[version]


class DescribeClassicGroups(KafkaRequest):
    """For the coordinator of these groups. Version 3 tells no instance ids of static members."""

    LAYOUTS: ClassVar[Sequence[type[Any]]] = (
        DescribeGroupsRequest_v3,
        layout(
            15,
            4,
            is_flexible=False,
            request=old_row(groups=Array(OLD_TEXT), include_authorized_operations=Boolean),
            response=old_row(
                throttle_time_ms=Int32,
                groups=old_rows(
                    error_code=Int16,
                    group=OLD_TEXT,
                    state=OLD_TEXT,
                    protocol_type=OLD_TEXT,
                    protocol=OLD_TEXT,
                    members=old_rows(
                        member_id=OLD_TEXT,
                        instance_id=OLD_TEXT,
                        client_id=OLD_TEXT,
                        client_host=OLD_TEXT,
                        subscription=Bytes,
                        assignment=Bytes,
                    ),
                    authorized_operations=Int32,
                ),
            ),
        ),
    )

    def __init__(self, groups: Sequence[str], *, with_operations: bool = False) -> None:
        self._groups = groups
        self._with_operations = with_operations

    def values(self, _version: int, /) -> Sequence[Any]:
        return self._groups, self._with_operations


_ASSIGNMENT = row(topics=rows(topic_id=Uuid, topic=TEXT, partitions=CompactArray(Int32)))
_CONSUMER = {
    "member_id": TEXT,
    "instance_id": TEXT,
    "rack": TEXT,
    "member_epoch": Int32,
    "client_id": TEXT,
    "client_host": TEXT,
    "subscription": CompactArray(TEXT),
    "subscribed_regex": TEXT,
    "assignment": _ASSIGNMENT,
    "target_assignment": _ASSIGNMENT,
}
_SHARE_CONSUMER = {
    name: kind
    for name, kind in _CONSUMER.items()
    if name not in ("instance_id", "subscribed_regex", "target_assignment")
}


def _described(key: int, version: int, **member: Any) -> type[Any]:
    """A layout for groups whose members have these fields."""
    return layout(
        key,
        version,
        request=row(groups=CompactArray(TEXT), include_authorized_operations=Boolean),
        response=row(
            throttle_time_ms=Int32,
            groups=rows(
                error_code=Int16,
                error_message=TEXT,
                group=TEXT,
                state=TEXT,
                group_epoch=Int32,
                assignment_epoch=Int32,
                assignor=TEXT,
                members=rows(**member),
                authorized_operations=Int32,
            ),
        ),
    )


class DescribeConsumerGroups(DescribeClassicGroups):
    """Version 1 says of each member whether it still speaks the classic protocol."""

    LAYOUTS: ClassVar[Sequence[type[Any]]] = (
        _described(69, 0, **_CONSUMER),
        _described(69, 1, **_CONSUMER, member_type=Int8),
    )

    def values(self, version: int, /) -> Sequence[Any]:
        return *super().values(version), NO_TAGS


class DescribeShareGroups(DescribeConsumerGroups):
    LAYOUTS = (_described(77, 1, **_SHARE_CONSUMER),)


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
