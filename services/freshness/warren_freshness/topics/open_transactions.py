"""Transactions that are open where groups have come to: who began them."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import structlog
from warren.errors import KafkaError
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.metadata import NO_LEADER, TOO_OLD
from warren_wire.partition_requests import (
    DescribeProducersRequest,
    ListTransactionsRequest,
    OpenProducer,
    open_producers,
    transactional_ids,
)

from warren_freshness.log_position import LogPosition
from warren_freshness.topics.metadata import TopicMetadata

log = structlog.get_logger(__name__)


class TransactionOwner(NamedTuple):
    """Who writes a transaction. `transactional_id`: None where no broker says it."""

    producer_id: int
    producer_epoch: int
    transactional_id: str | None = None


class OpenTransactions:
    """Of one cluster, by where they begin (last stable offset). Who owns one does not change."""

    def __init__(self, cluster: str, brokers: Brokers, metadata: TopicMetadata) -> None:
        self._cluster = cluster
        self._brokers = brokers
        self._metadata = metadata
        self._owners: dict[LogPosition, TransactionOwner | None] = {}

    def owners(self) -> Mapping[LogPosition, TransactionOwner]:
        """As far as brokers say it."""
        return {begin: owner for begin, owner in self._owners.items() if owner is not None}

    async def refresh(self, begins: Iterable[LogPosition], *, timeout: float) -> None:
        """Asks for those that are new; forgets all others. On trouble they are asked for again."""
        wanted = set(begins)
        self._owners = {b: owner for b, owner in self._owners.items() if b in wanted}
        new = wanted - self._owners.keys()
        if not new:
            return
        try:
            async with asyncio.timeout(timeout):
                self._owners |= await self._ask(new)
        except (*UNANSWERED, *TOO_OLD, KafkaError) as error:
            log.debug("open transactions unknown", cluster=self._cluster, problem=str(error))

    async def _ask(
        self, begins: Iterable[LogPosition]
    ) -> dict[LogPosition, TransactionOwner | None]:
        by_leader: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        requested: dict[LogPosition, TransactionOwner | None] = {}
        for begin in begins:
            leader = self._metadata.leader(begin.topic, begin.partition)
            if leader != NO_LEADER:
                by_leader[leader][begin.topic].append(begin.partition)
                requested[begin] = None
        producers: list[OpenProducer] = []
        for leader, partitions in by_leader.items():
            request = DescribeProducersRequest(partitions)
            producers += open_producers(await self._brokers.send(leader, request))
        names = await self._names({producer.producer_id for producer in producers})
        for topic, partition, producer_id, epoch, start in producers:
            begin = LogPosition(topic, partition, start)
            if begin in requested:
                requested[begin] = TransactionOwner(producer_id, epoch, names.get(producer_id))
        return requested

    async def _names(self, producer_ids: set[int]) -> dict[int, str]:
        """Transactional ids: each broker knows those that it coordinates."""
        names: dict[int, str] = {}
        if producer_ids:
            request = ListTransactionsRequest(sorted(producer_ids))
            for broker in self._brokers.ids:
                with contextlib.suppress(*UNANSWERED, *TOO_OLD):
                    names |= transactional_ids(await self._brokers.send(broker, request))
        return names
