"""Where logs begin and end, offsets by time, and the largest timestamp of a log: ListOffsets.

Version 8, which aiokafka does not have, where only that can tell.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from aiokafka.errors import IncompatibleBrokerVersion
from aiokafka.protocol.offset import OffsetRequest_v1, OffsetRequest_v2, OffsetRequest_v3
from aiokafka.protocol.types import Int8, Int16, Int32, Int64

from warren_wire.metadata import NO_TAGS, TEXT, KafkaRequest, layout, row, rows

LATEST = -1
"""Instead of a time: the log's end, or its last stable offset."""
EARLIEST = -2
LARGEST_TIMESTAMP = -3
"""Instead of a time: the record with the largest timestamp (KIP-734, brokers from 3.0 on)."""
EARLIEST_LOCAL = -4
"""Instead of a time: the first record on the broker's own disk (KIP-405, from 3.6 on)."""
NOT_FOUND = -1
READ_UNCOMMITTED = 0
"""Up to the high watermark, as Kafka's own tools show it."""
READ_COMMITTED = 1
"""Up to the last stable offset."""
_CLIENT = -1  # "replica id" of one that is not a replica
_NO_EPOCH = -1
_Partition = tuple[str, int]
# Before these versions such a number was taken for a time like any other.
_FIRST_VERSION = {LARGEST_TIMESTAMP: 7, EARLIEST_LOCAL: 8}


class FoundOffset(NamedTuple):
    """`timestamp` of the record at `offset`, Unix ms; both are NOT_FOUND where there is none."""

    timestamp: int
    offset: int


_OLD = (OffsetRequest_v1, OffsetRequest_v2, OffsetRequest_v3)
_VERSION_8 = layout(
    2,
    8,
    request=row(
        replica_id=Int32,
        isolation_level=Int8,
        topics=rows(
            topic=TEXT,
            partitions=rows(partition=Int32, current_leader_epoch=Int32, timestamp=Int64),
        ),
    ),
    response=row(
        throttle_time_ms=Int32,
        topics=rows(
            topic=TEXT,
            partitions=rows(
                partition=Int32,
                error_code=Int16,
                timestamp=Int64,
                offset=Int64,
                leader_epoch=Int32,
            ),
        ),
    ),
)


class ListOffsetsRequest(KafkaRequest):
    """For each partition the first record whose timestamp is that large, or one of the constants
    above. Sending it raises IncompatibleBrokerVersion where the broker does not know a constant.
    """

    LAYOUTS = (*_OLD, _VERSION_8)

    def __init__(
        self,
        topics: Iterable[tuple[str, Sequence[tuple[int, int]]]],
        isolation: int = READ_UNCOMMITTED,
    ) -> None:
        """`topics`: by topic, (partition, time)."""
        self._topics = list(topics)
        self._isolation = isolation
        asked = {time for _topic, partitions in self._topics for _partition, time in partitions}
        self._needs = max((_FIRST_VERSION.get(time, 0) for time in asked), default=0)
        if not self._needs:
            self._CLASSES = (_VERSION_8, *_OLD)  # answers to the old ones are shorter

    @classmethod
    def by_partition(cls, times: Mapping[_Partition, int]) -> Self:
        topics: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for (topic, partition), time in times.items():
            topics[topic].append((partition, time))
        return cls(topics.items())

    def values(self, version: int, /) -> Sequence[Any]:
        if version < self._needs:
            raise IncompatibleBrokerVersion(f"ListOffsets {self._needs} is needed, not {version}")
        if version == _VERSION_8.API_VERSION:
            flexible = [
                (topic, [(number, _NO_EPOCH, time, NO_TAGS) for number, time in listed], NO_TAGS)
                for topic, listed in self._topics
            ]
            return _CLIENT, self._isolation, flexible, NO_TAGS
        if version == 1:
            return _CLIENT, self._topics
        return _CLIENT, self._isolation, self._topics


def listed_offsets(response: Any) -> Iterator[tuple[_Partition, int, FoundOffset]]:
    """(partition, Kafka's error code, what was found) of a response to ListOffsetsRequest."""
    for topic, partitions, *_ in response.topics:
        for partition, error, timestamp, offset, *_ in partitions:
            yield (topic, partition), error, FoundOffset(timestamp, offset)
