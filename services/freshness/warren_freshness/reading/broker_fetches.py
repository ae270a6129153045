"""All the reading from one broker in one pass: rounds of fetch requests until nothing is open."""

import asyncio
import struct
from collections import defaultdict, deque
from collections.abc import Iterable
from itertools import islice
from typing import Any

from warren.errors import UnreadableBatch
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.metadata import NO_ERROR, NOT_AUTHORISED, OUT_OF_RANGE
from warren_wire.partition_requests import EARLIEST, ListOffsetsRequest, listed_offsets
from warren_wire.record_batches import fetch_request

from warren_freshness.reading.batch_sizes import BatchSizes, ByteBudget
from warren_freshness.reading.record_search import (
    FIRST_STRIDE,
    LARGEST_STRIDE,
    ONE_BATCH,
    READ_COMMITTED,
    Fetched,
    RecordSearch,
    times_at,
)
from warren_freshness.topics.metadata import TopicMetadata

# Requests to one broker that are open at a time: it reads while we search.
IN_FLIGHT = 4
MOST_PARTITIONS = 500  # of one request
MOST_BYTES = 2**20  # asked for in one request, for all but its first partition
MOST_ASIDE = 2 * MOST_PARTITIONS  # looked at for one request, and left for a later one
_BASE_OFFSET = struct.Struct(">q")
_Partition = tuple[str, int]


class BrokerFetches:
    """Searches in partitions that one broker leads, those first that come first."""

    def __init__(
        self,
        brokers: Brokers,
        broker: int,
        metadata: TopicMetadata,
        searches: Iterable[RecordSearch],
        budget: ByteBudget,
        sizes: BatchSizes,
    ) -> None:
        self._brokers = brokers
        self._broker = broker
        self._metadata = metadata
        self._budget = budget
        self._sizes = sizes
        self._leading: deque[RecordSearch] = deque()
        self._following: deque[RecordSearch] = deque()
        self._of_partition: dict[_Partition, list[RecordSearch]] = defaultdict(list)
        self._busy: set[_Partition] = set()
        self._is_gone = False
        for search in searches:
            (self._leading if search.leads else self._following).append(search)
            self._of_partition[_partition(search)].append(search)

    async def run(self) -> None:
        """Returns when each search has its reading, or the broker or the budget has no more.

        Raises AuthenticationFailed.
        """
        work = (self._work() for _ in range(IN_FLIGHT))
        for failure in await asyncio.gather(*work, return_exceptions=True):
            if failure is not None:
                raise failure

    async def _work(self) -> None:
        try:
            while not self._is_gone and (chosen := self._next_round()):
                await self._round(chosen)
        except UNANSWERED:
            self._is_gone = True
            self._metadata.expire()

    def _next_round(self) -> dict[_Partition, RecordSearch]:
        """Searches in different partitions and one isolation level that fit into one request."""
        if self._budget.left <= 0:
            return {}
        chosen: dict[_Partition, RecordSearch] = {}
        self._take(self._leading, chosen, 1)
        self._take(self._following, chosen, 1)
        self._take(self._following, chosen, MOST_PARTITIONS)
        self._busy |= chosen.keys()
        return chosen

    def _take(
        self, queue: deque[RecordSearch], chosen: dict[_Partition, RecordSearch], most: int
    ) -> None:
        """Moves searches to those that are chosen until these are `most`; the others stay in
        their order."""
        room = min(MOST_BYTES, self._budget.left) - sum(map(self._expected, chosen.values()))
        aside: list[RecordSearch] = []
        while queue and len(chosen) < most and len(aside) < MOST_ASIDE:
            search = queue.popleft()
            if search.reading is not None:
                continue  # found in what was fetched for another one
            if search.leads and self._is_small_now(search):
                self._following.append(search)
                continue
            if not self._may_join(search, chosen):
                aside.append(search)
                continue
            if chosen and search.size > room:
                aside.append(search)
                break
            room -= search.size
            chosen[_partition(search)] = search
        queue.extendleft(reversed(aside))

    def _is_small_now(self, search: RecordSearch) -> bool:
        """Its topic's batches were seen meanwhile, and it need not lead a request for them."""
        search.plan(self._sizes.worthwhile(search.position.topic))
        return not search.leads

    def _may_join(self, search: RecordSearch, chosen: dict[_Partition, RecordSearch]) -> bool:
        partition = _partition(search)
        if partition in self._busy or partition in chosen:
            return False
        return all(search.isolation == other.isolation for other in islice(chosen.values(), 1))

    async def _round(self, searches: dict[_Partition, RecordSearch]) -> None:
        reserved = sum(self._expected(search) for search in searches.values())
        self._budget.reserve(reserved)
        answer = await self._brokers.send(self._broker, _fetch_request(searches))
        unanswered = dict(searches)
        out_of_range: dict[_Partition, RecordSearch] = {}
        came = 0
        for topic, partitions in answer.topics:
            for partition in partitions:
                search = unanswered.pop((topic, partition[0]), None)
                if search is None:
                    continue
                came += len(partition[-1] or b"")
                if partition[1] == OUT_OF_RANGE:
                    out_of_range[topic, partition[0]] = search
                else:
                    self._search(search, partition)
            # Searching a response takes a while: let others run, the timeout among them.
            await asyncio.sleep(0)
        self._budget.settle(reserved, came)
        self._give_up(unanswered.values())
        if out_of_range:
            await self._correct(out_of_range)
        self._return(searches)

    def _search(self, search: RecordSearch, partition: tuple[Any, ...]) -> None:
        error = partition[1]
        if error == NO_ERROR:
            fetched = Fetched.from_response(partition)
            begin = search.fetch_offset
            search.take(fetched)
            if fetched.records:
                self._sizes.learn(search.position.topic, search.batch_size)
                if search.isolation == READ_COMMITTED:
                    self._share(search, begin, fetched)
        elif error == NOT_AUTHORISED:
            search.refuse()
        else:
            self._give_up([search])

    def _share(self, search: RecordSearch, begin: int, fetched: Fetched) -> None:
        """Other positions may be in the same batches."""
        begin = min(begin, *_BASE_OFFSET.unpack_from(fetched.records))
        others = {
            other.offset: other
            for other in self._of_partition[_partition(search)]
            if other.may_share and other is not search and other.offset >= begin
        }
        if not others:
            return
        try:
            found = times_at(fetched.records, sorted(others), fetched.aborted)
        except UnreadableBatch:
            return
        for offset, times in found.items():
            others[offset].batch_size = search.batch_size
            others[offset].share(times)

    def _return(self, searches: dict[_Partition, RecordSearch]) -> None:
        """Those that are not finished are the next ones in their queues."""
        for search in reversed(searches.values()):
            if search.reading is None:
                (self._leading if search.leads else self._following).appendleft(search)
        self._busy -= searches.keys()

    async def _correct(self, searches: dict[_Partition, RecordSearch]) -> None:
        """Asks where the logs begin that the offsets are out of range of."""
        request = ListOffsetsRequest.by_partition(dict.fromkeys(searches, EARLIEST))
        answer = await self._brokers.send(self._broker, request)
        for partition, error, found in listed_offsets(answer):
            search = searches.pop(partition, None)
            if search is not None and error == NO_ERROR:
                search.correct(found.offset)
            elif search is not None:
                self._give_up([search])
        self._give_up(searches.values())

    def _give_up(self, searches: Iterable[RecordSearch]) -> None:
        """The broker does not lead them any more, or is in trouble."""
        for search in searches:
            search.give_up()
            self._metadata.expire()

    def _expected(self, search: RecordSearch) -> int:
        """Bytes that will come for it, as far as can be foreseen."""
        if search.size != ONE_BATCH:
            return search.size
        return self._sizes.mean(search.position.topic) or FIRST_STRIDE


def _partition(search: RecordSearch) -> _Partition:
    return search.position.topic, search.position.partition


def _fetch_request(searches: dict[_Partition, RecordSearch]) -> Any:
    topics: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for (topic, partition), search in searches.items():
        topics[topic].append((partition, search.fetch_offset, search.size))
    # Room for a first batch that is larger than asked for, so that it crowds out no other.
    most = sum(search.size for search in searches.values()) + 8 * LARGEST_STRIDE
    return fetch_request(list(topics.items()), most, next(iter(searches.values())).isolation)
