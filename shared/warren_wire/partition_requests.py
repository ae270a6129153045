"""Where logs begin and end, offsets by time, and the largest timestamp of a log: ListOffsets.

Version 8, which aiokafka does not have, where only that can tell.

DescribeLogDirs: how large replicas are. Needs DESCRIBE on the cluster. What is not allowed
is an empty answer in version 1, a code in version 3.

DescribeProducers and ListTransactions (KIP-664): who writes into partitions, and in which
transactions. Brokers before 3.0 know neither.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from aiokafka.errors import IncompatibleBrokerVersion
from aiokafka.protocol.offset import OffsetRequest_v1, OffsetRequest_v2, OffsetRequest_v3
from aiokafka.protocol.types import Array, Boolean, CompactArray, Int8, Int16, Int32, Int64

from warren_wire.metadata import (
    NO_ERROR,
    NO_TAGS,
    OLD_TEXT,
    TEXT,
    KafkaRequest,
    layout,
    old_row,
    old_rows,
    row,
    rows,
)

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


_SIZES = {"partition": Int32, "size": Int64, "offset_lag": Int64, "is_future": Boolean}
_VERSION_1 = layout(
    35,
    1,
    is_flexible=False,
    request=old_row(topics=old_rows(topic=OLD_TEXT, partitions=Array(Int32))),
    response=old_row(
        throttle_time_ms=Int32,
        log_dirs=old_rows(
            error_code=Int16,
            log_dir=OLD_TEXT,
            topics=old_rows(topic=OLD_TEXT, partitions=old_rows(**_SIZES)),
        ),
    ),
)
_VERSION_3 = layout(
    35,
    3,
    request=row(topics=rows(topic=TEXT, partitions=CompactArray(Int32))),
    response=row(
        throttle_time_ms=Int32,
        error_code=Int16,
        log_dirs=rows(
            error_code=Int16, log_dir=TEXT, topics=rows(topic=TEXT, partitions=rows(**_SIZES))
        ),
    ),
)


class DescribeLogDirsRequest(KafkaRequest):
    """For the broker that has these partitions, by topic."""

    LAYOUTS = (_VERSION_1, _VERSION_3)

    def __init__(self, partitions: Mapping[str, Sequence[int]]) -> None:
        self._partitions = [(topic, list(listed)) for topic, listed in partitions.items()]

    def values(self, version: int, /) -> Sequence[Any]:
        if version == 1:
            return (self._partitions,)
        return [(*topic, NO_TAGS) for topic in self._partitions], NO_TAGS


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


NO_TRANSACTION = -1


class DescribeProducersRequest(KafkaRequest):
    """For the leader of these partitions, by topic; READ on the topics is needed."""

    LAYOUTS = (
        layout(
            61,
            0,
            request=row(topics=rows(topic=TEXT, partitions=CompactArray(Int32))),
            response=row(
                throttle_time_ms=Int32,
                topics=rows(
                    topic=TEXT,
                    partitions=rows(
                        partition=Int32,
                        error_code=Int16,
                        error_message=TEXT,
                        producers=rows(
                            producer_id=Int64,
                            producer_epoch=Int32,
                            last_sequence=Int32,
                            last_timestamp=Int64,
                            coordinator_epoch=Int32,
                            transaction_start=Int64,
                        ),
                    ),
                ),
            ),
        ),
    )

    def __init__(self, partitions: Mapping[str, Sequence[int]]) -> None:
        self._topics = [(topic, list(listed), NO_TAGS) for topic, listed in partitions.items()]

    def values(self, _version: int, /) -> Sequence[Any]:
        return self._topics, NO_TAGS


class ListTransactionsRequest(KafkaRequest):
    """For each broker: the transactions of these producers that it coordinates. It leaves out those
    whose transactional id may not be described.
    """

    LAYOUTS = (
        layout(
            66,
            0,
            request=row(state_filters=CompactArray(TEXT), producer_id_filters=CompactArray(Int64)),
            response=row(
                throttle_time_ms=Int32,
                error_code=Int16,
                unknown_state_filters=CompactArray(TEXT),
                transactions=rows(transactional_id=TEXT, producer_id=Int64, state=TEXT),
            ),
        ),
    )

    def __init__(self, producer_ids: Sequence[int]) -> None:
        self._producer_ids = list(producer_ids)

    def values(self, _version: int, /) -> Sequence[Any]:
        return [], self._producer_ids, NO_TAGS


class OpenProducer(NamedTuple):
    """A producer with a transaction that is open in a partition, and where that begins."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    start: int


def open_producers(response: Any) -> Iterator[OpenProducer]:
    """Of a response to DescribeProducersRequest; partitions with errors are left out."""
    for topic, partitions, *_ in response.topics:
        for partition, error, _message, producers, *_ in partitions:
            if error != NO_ERROR:
                continue
            for producer_id, epoch, _sequence, _at, _coordinator, start, *_ in producers:
                if start != NO_TRANSACTION:
                    yield OpenProducer(topic, partition, producer_id, epoch, start)


def transactional_ids(response: Any) -> dict[int, str]:
    """By producer id, of a response to ListTransactionsRequest."""
    return {producer_id: name for name, producer_id, *_ in response.transactions}
