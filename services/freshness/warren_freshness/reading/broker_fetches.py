"""All the reading from one broker in one pass: rounds of fetch requests until nothing is open."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.offset import OffsetRequest
from warren.kafka.brokers import UNANSWERED, Brokers
from warren.kafka.metadata import NO_ERROR, NOT_AUTHORISED

from warren_freshness.reading.byte_budget import ByteBudget
from warren_freshness.reading.record_search import LARGEST_SIZE, Fetched, RecordSearch
from warren_freshness.topics.metadata import TopicMetadata

MOST_PARTITIONS = 500  # of one request
MOST_BYTES = 16 * 2**20  # of one response
_NO_WAIT = 0
_OUT_OF_RANGE = 1
_CLIENT = -1  # "replica id" of one that is not a replica
_EARLIEST = -2
_Partition = tuple[str, int]


class BrokerFetches:
    """Searches in partitions that one broker leads."""

    def __init__(
        self,
        brokers: Brokers,
        broker: int,
        metadata: TopicMetadata,
        searches: Iterable[RecordSearch],
        budget: ByteBudget,
    ) -> None:
        self._brokers = brokers
        self._broker = broker
        self._metadata = metadata
        self._open = list(searches)
        self._budget = budget

    async def run(self) -> None:
        """Returns when each search has its reading, or the broker or the budget has no more.

        Raises AuthenticationFailed.
        """
        try:
            while self._open and self._budget.left > 0:
                await self._round(self._next_round())
                self._open = [search for search in self._open if search.reading is None]
        except UNANSWERED:
            self._metadata.expire()

    def _next_round(self) -> dict[_Partition, RecordSearch]:
        """Searches in different partitions and one isolation level that fit into one request."""
        # The first partition of a request gets a batch of any size: let those that need it lead.
        self._open.sort(key=lambda search: -search.size)
        isolation = self._open[0].isolation
        room = min(MOST_BYTES, self._budget.left)
        chosen: dict[_Partition, RecordSearch] = {}
        for search in self._open:
            partition = (search.position.topic, search.position.partition)
            if search.isolation != isolation or partition in chosen:
                continue
            if chosen and (search.size > room or len(chosen) == MOST_PARTITIONS):
                break
            chosen[partition] = search
            room -= search.size
        return chosen

    async def _round(self, searches: dict[_Partition, RecordSearch]) -> None:
        answer = await self._brokers.send(self._broker, _fetch_request(searches))
        unanswered = dict(searches)
        out_of_range: dict[_Partition, RecordSearch] = {}
        for topic, partitions in answer.topics:
            for partition in partitions:
                search = unanswered.pop((topic, partition[0]), None)
                if search is None:
                    continue
                if partition[1] == _OUT_OF_RANGE:
                    out_of_range[topic, partition[0]] = search
                else:
                    self._take(search, partition)
            # Searching a response takes a while: let others run, the timeout among them.
            await asyncio.sleep(0)
        self._give_up(unanswered.values())
        if out_of_range:
            await self._correct(out_of_range)

    def _take(self, search: RecordSearch, partition: tuple[Any, ...]) -> None:
        error = partition[1]
        if error == NO_ERROR:
            fetched = Fetched.from_response(partition)
            self._budget.spend(len(fetched.records))
            search.take(fetched)
        elif error == NOT_AUTHORISED:
            search.refuse()
        else:
            self._give_up([search])

    async def _correct(self, searches: dict[_Partition, RecordSearch]) -> None:
        """Asks where the logs begin that the offsets are out of range of."""
        topics: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for topic, partition in searches:
            topics[topic].append((partition, _EARLIEST))
        isolation = next(iter(searches.values())).isolation
        answer = await self._brokers.send(
            self._broker, OffsetRequest(_CLIENT, isolation, list(topics.items()))
        )
        for topic, partitions in answer.topics:
            for number, error, _timestamp, log_start, *_ in partitions:
                search = searches.pop((topic, number), None)
                if search is not None and error == NO_ERROR:
                    search.correct(log_start)
                elif search is not None:
                    self._give_up([search])
        self._give_up(searches.values())

    def _give_up(self, searches: Iterable[RecordSearch]) -> None:
        """The broker does not lead them any more, or is in trouble."""
        for search in searches:
            search.give_up()
            self._metadata.expire()


def _fetch_request(searches: dict[_Partition, RecordSearch]) -> FetchRequest:
    topics: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for (topic, partition), search in searches.items():
        topics[topic].append((partition, search.fetch_offset, search.size))
    # Room for a first batch that is larger than asked for, so that it crowds out no other.
    most = sum(search.size for search in searches.values()) + LARGEST_SIZE
    isolation = next(iter(searches.values())).isolation
    return FetchRequest(_NO_WAIT, _NO_WAIT, most, isolation, list(topics.items()))
