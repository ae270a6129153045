"""All the reading from one broker in one pass: rounds of fetch requests until nothing is open."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.offset import OffsetRequest
from warren.kafka.brokers import UNANSWERED, Brokers

from warren_freshness.reading.record_search import LARGEST_SIZE, Fetched, Scan
from warren_freshness.topics.metadata import TopicMetadata

MOST_PARTITIONS = 500  # of one request
MOST_BYTES = 16 * 2**20  # of one response
_NO_WAIT = 0
_NO_ERROR = 0
_OUT_OF_RANGE = 1
_NOT_AUTHORISED = 29
_CLIENT = -1  # "replica id" of one that is not a replica
_EARLIEST = -2
_Partition = tuple[str, int]


class ByteBudget:
    """What a pass may still read from a cluster, shared by its brokers."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.used = 0

    def spend(self, count: int) -> None:
        self.left -= count
        self.used += count


class BrokerScans:
    """Scans of partitions that one broker leads."""

    def __init__(
        self,
        brokers: Brokers,
        broker: int,
        metadata: TopicMetadata,
        scans: Iterable[Scan],
        budget: ByteBudget,
    ) -> None:
        self._brokers = brokers
        self._broker = broker
        self._metadata = metadata
        self._open = list(scans)
        self._budget = budget

    async def run(self) -> None:
        """Returns when each scan has its reading, or the broker or the budget has no more.

        Raises AuthenticationFailed.
        """
        try:
            while self._open and self._budget.left > 0:
                await self._round(self._next_round())
                self._open = [scan for scan in self._open if scan.reading is None]
        except UNANSWERED:
            self._metadata.expire()

    def _next_round(self) -> dict[_Partition, Scan]:
        """Scans of different partitions and one isolation level that fit into one request."""
        # The first partition of a request gets a batch of any size: let those that need it lead.
        self._open.sort(key=lambda scan: -scan.size)
        isolation = self._open[0].isolation
        room = min(MOST_BYTES, self._budget.left)
        chosen: dict[_Partition, Scan] = {}
        for scan in self._open:
            partition = (scan.position.topic, scan.position.partition)
            if scan.isolation != isolation or partition in chosen:
                continue
            if chosen and (scan.size > room or len(chosen) == MOST_PARTITIONS):
                break
            chosen[partition] = scan
            room -= scan.size
        return chosen

    async def _round(self, scans: dict[_Partition, Scan]) -> None:
        answer = await self._brokers.send(self._broker, _fetch_request(scans))
        unanswered = dict(scans)
        out_of_range: dict[_Partition, Scan] = {}
        for topic, partitions in answer.topics:
            for partition in partitions:
                scan = unanswered.pop((topic, partition[0]), None)
                if scan is None:
                    continue
                if partition[1] == _OUT_OF_RANGE:
                    out_of_range[topic, partition[0]] = scan
                else:
                    self._take(scan, partition)
            # Searching a response takes a while: let others run, the timeout among them.
            await asyncio.sleep(0)
        self._give_up(unanswered.values())
        if out_of_range:
            await self._correct(out_of_range)

    def _take(self, scan: Scan, partition: tuple[Any, ...]) -> None:
        error = partition[1]
        if error == _NO_ERROR:
            fetched = Fetched.from_response(partition)
            self._budget.spend(len(fetched.records))
            scan.take(fetched)
        elif error == _NOT_AUTHORISED:
            scan.refuse()
        else:
            self._give_up([scan])

    async def _correct(self, scans: dict[_Partition, Scan]) -> None:
        """Asks where the logs begin that the offsets are out of range of."""
        topics: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for topic, partition in scans:
            topics[topic].append((partition, _EARLIEST))
        isolation = next(iter(scans.values())).isolation
        answer = await self._brokers.send(
            self._broker, OffsetRequest(_CLIENT, isolation, list(topics.items()))
        )
        for topic, partitions in answer.topics:
            for number, error, _timestamp, log_start, *_ in partitions:
                scan = scans.pop((topic, number), None)
                if scan is not None and error == _NO_ERROR:
                    scan.correct(log_start)
                elif scan is not None:
                    self._give_up([scan])
        self._give_up(scans.values())

    def _give_up(self, scans: Iterable[Scan]) -> None:
        """The broker does not lead them any more, or is in trouble."""
        for scan in scans:
            scan.give_up()
            self._metadata.expire()


def _fetch_request(scans: dict[_Partition, Scan]) -> FetchRequest:
    topics: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for (topic, partition), scan in scans.items():
        topics[topic].append((partition, scan.fetch_offset, scan.size))
    # Room for a first batch that is larger than asked for, so that it crowds out no other.
    most = sum(scan.size for scan in scans.values()) + LARGEST_SIZE
    isolation = next(iter(scans.values())).isolation
    return FetchRequest(_NO_WAIT, _NO_WAIT, most, isolation, list(topics.items()))
