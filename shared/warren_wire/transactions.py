"""DescribeProducers and ListTransactions (KIP-664): who writes into partitions, and in which
transactions. Brokers before 3.0 know neither.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aiokafka.protocol.types import CompactArray, Int16, Int32, Int64

from warren_wire.metadata import NO_ERROR, NO_TAGS, TEXT, KafkaRequest, layout, row, rows

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
