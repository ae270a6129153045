"""Asking coordinators about their groups: many groups in a request, few requests at a time."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.committed_offsets import (
    FetchOffsetsOfGroup,
    FetchOffsetsOfGroups,
    TopicOffsets,
    from_rows,
)
from warren_wire.groups import (
    DescribeClassicGroups,
    DescribeConsumerGroups,
    DescribeShareGroups,
    ListAllGroups,
)
from warren_wire.metadata import (
    NO_ERROR,
    TOO_OLD,
    UNKNOWN_TOPIC,
    KafkaRequest,
    described_topics,
)

GroupType = Literal["classic", "consumer", "share", "streams"]

GROUPS_PER_REQUEST = 100
REQUESTS_AT_ONCE = 4
_TYPES: dict[str, GroupType] = {"consumer": "consumer", "share": "share", "streams": "streams"}
_DESCRIBE: dict[GroupType, type[DescribeClassicGroups]] = {
    "classic": DescribeClassicGroups,
    "consumer": DescribeConsumerGroups,
    "share": DescribeShareGroups,
}


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group as its coordinator lists it. `state` is empty before Kafka 2.6."""

    name: str
    type: GroupType
    protocol_type: str
    state: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Groups by name; there may be others unless `is_complete`: a coordinator did not answer."""

    groups: dict[str, ListedGroup]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """A coordinator's error code instead of an answer about a group."""

    error: int


class GroupAdmin:
    """For one event loop, that of its Brokers."""

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._places = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def list(self) -> Listing:
        """All groups that may be described.

        Raises ClusterUnreachable when no broker answers, AuthenticationFailed.
        """
        await self._brokers.metadata([])
        answers = await asyncio.gather(*map(self._list, self._brokers.ids))
        return Listing(
            groups={group.name: group for answer in answers for group in answer or ()},
            is_complete=None not in answers,
        )

    async def committed(self, groups: Iterable[ListedGroup]) -> dict[str, TopicOffsets | Refusal]:
        """All committed offsets of these groups; groups whose coordinator is away are missing."""
        requested = [
            self._committed(broker, [group.name for group in some])
            for (broker, _type), some in _requests(groups)
        ]
        answers = await asyncio.gather(*requested)
        return {group: found for answer in answers for group, found in answer.items()}

    async def describe(self, groups: Iterable[ListedGroup]) -> dict[str, Any]:
        """What the responses say of each group, by name: dicts named as in Kafka's schemas, or a
        Refusal. Missing: groups whose coordinator is away, types that it cannot describe."""
        requested = [
            self._describe(broker, _DESCRIBE[type_], [group.name for group in some])
            for (broker, type_), some in _requests(groups)
            if type_ in _DESCRIBE
        ]
        answers = await asyncio.gather(*requested)
        return {group: found for answer in answers for group, found in answer.items()}

    async def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        """Partitions of those of these topics that can be described; 0: there is no such topic."""
        response = await self._brokers.metadata(sorted(topics))
        return {
            topic.name: len(topic.leaders) if topic.error == NO_ERROR else 0
            for topic in described_topics(response)
            if topic.error in (NO_ERROR, UNKNOWN_TOPIC)
        }

    async def _list(self, broker: int) -> Sequence[ListedGroup] | None:
        answer = await self._send(broker, ListAllGroups())
        if answer is None or answer.error_code != NO_ERROR:
            return None
        return [_listed(broker, *group) for group in answer.groups]

    async def _committed(
        self, broker: int, groups: Sequence[str]
    ) -> Mapping[str, TopicOffsets | Refusal]:
        try:
            answer = await self._send(broker, FetchOffsetsOfGroups(groups))
        except TOO_OLD:
            requests = (self._send(broker, FetchOffsetsOfGroup(group)) for group in groups)
            answers = await asyncio.gather(*requests)
            return {
                group: _offsets(
                    answer.error_code, {topic: from_rows(rows) for topic, rows in answer.topics}
                )
                for group, answer in zip(groups, answers, strict=True)
                if answer is not None
            }
        if answer is None:
            return {}
        return {
            group: _offsets(error, {topic: offsets for topic, offsets, _tags in topics})
            for group, topics, error, _tags in answer.groups
        }

    async def _describe(
        self, broker: int, request: type[DescribeClassicGroups], groups: Sequence[str]
    ) -> dict[str, Any]:
        try:
            answer = await self._send(broker, request(groups))
        except TOO_OLD:
            return {}
        if answer is None:
            return {}
        return {
            group["group"]: Refusal(group["error_code"]) if group["error_code"] else group
            for group in answer.to_object()["groups"]
        }

    async def _send(self, broker: int, request: KafkaRequest) -> Any:
        """The response, None when there is none."""
        async with self._places:
            try:
                return await self._brokers.send(broker, request)
            except UNANSWERED:
                return None


def _requests(
    groups: Iterable[ListedGroup],
) -> Iterable[tuple[tuple[int, GroupType], Sequence[ListedGroup]]]:
    """Groups by coordinator and type, as many as go into one request."""
    together: dict[tuple[int, GroupType], list[ListedGroup]] = defaultdict(list)
    for group in groups:
        together[group.coordinator, group.type].append(group)
    for key, some in together.items():
        for start in range(0, len(some), GROUPS_PER_REQUEST):
            yield key, some[start : start + GROUPS_PER_REQUEST]


def _listed(
    broker: int, name: str, protocol_type: str, state: str = "", type_: object = "", *_: object
) -> ListedGroup:
    """Of an entry of ListGroups, whose older versions have fewer fields (tags are no string)."""
    group_type = _TYPES.get(type_.lower(), "classic") if isinstance(type_, str) else "classic"
    return ListedGroup(name, group_type, protocol_type, state, broker)


def _offsets(error: int, topics: TopicOffsets) -> TopicOffsets | Refusal:
    return topics if error == NO_ERROR else Refusal(error)
