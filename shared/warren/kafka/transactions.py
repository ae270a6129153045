"""DescribeProducers and ListTransactions (KIP-664): who writes into partitions, and in which
transactions.

Schema: Kafka's JSON files of these names, request and response. Brokers before 3.0 have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Int64,
    Schema,
    TaggedFields,
)

from warren.kafka.metadata import NO_ERROR

NO_TRANSACTION = -1
_TEXT = CompactString("utf-8")
_NO_TAGS: dict[int, bytes] = {}


class DescribeProducersResponse_v0(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 61
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "topics",
            CompactArray(
                ("topic", _TEXT),
                (
                    "partitions",
                    CompactArray(
                        ("partition", Int32),
                        ("error_code", Int16),
                        ("error_message", _TEXT),
                        (
                            "producers",
                            CompactArray(
                                ("producer_id", Int64),
                                ("producer_epoch", Int32),
                                ("last_sequence", Int32),
                                ("last_timestamp", Int64),
                                ("coordinator_epoch", Int32),
                                ("transaction_start", Int64),
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


class DescribeProducersRequest_v0(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 61
    API_VERSION = 0
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = DescribeProducersResponse_v0
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("topic", _TEXT), ("partitions", CompactArray(Int32)), ("tags", TaggedFields)
            ),
        ),
        ("tags", TaggedFields),
    )


class DescribeProducersRequest(Request[DescribeProducersRequest_v0]):  # type: ignore[misc]  # untyped base
    """For the leader of these partitions, by topic; READ on the topics is needed."""

    API_KEY = 61

    def __init__(self, partitions: Mapping[str, Sequence[int]]) -> None:
        self._topics = [(topic, list(listed), _NO_TAGS) for topic, listed in partitions.items()]

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class(self._topics, _NO_TAGS)


class ListTransactionsResponse_v0(Response):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 66
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("error_code", Int16),
        ("unknown_state_filters", CompactArray(_TEXT)),
        (
            "transactions",
            CompactArray(
                ("transactional_id", _TEXT),
                ("producer_id", Int64),
                ("state", _TEXT),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class ListTransactionsRequest_v0(RequestStruct):  # type: ignore[misc]  # noqa: N801 - untyped base; aiokafka's names
    API_KEY = 66
    API_VERSION = 0
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = ListTransactionsResponse_v0
    SCHEMA = Schema(
        ("state_filters", CompactArray(_TEXT)),
        ("producer_id_filters", CompactArray(Int64)),
        ("tags", TaggedFields),
    )


class ListTransactionsRequest(Request[ListTransactionsRequest_v0]):  # type: ignore[misc]  # untyped base
    """For each broker: the transactions of these producers that it coordinates. It leaves out those
    whose transactional id may not be described.
    """

    API_KEY = 66

    def __init__(self, producer_ids: Sequence[int]) -> None:
        self._producer_ids = list(producer_ids)

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class([], self._producer_ids, _NO_TAGS)


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
