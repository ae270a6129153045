"""Sizes of logs that are kept below a size, asked of the partitions' leaders: DescribeLogDirs, and
then where they end."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping

import structlog
from warren.clock import Clock
from warren.errors import AuthorizationFailed, KafkaError
from warren.kafka.connection import log_retry
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.layout import NO_ERROR, TOO_OLD
from warren_wire.list_offsets import EARLIEST, LATEST, ListOffsetsRequest, listed_offsets
from warren_wire.log_dirs import DescribeLogDirsRequest, is_refused, log_sizes
from warren_wire.metadata import NO_LEADER

from warren_freshness.topics.log_growth import LogGrowth
from warren_freshness.topics.metadata import TopicMetadata

log = structlog.get_logger(__name__)

ASK_EVERY = 5.0  # seconds between two sizes of a log; passes are further apart
ASK_AGAIN = 300.0  # seconds after which a right is asked for again that was not granted
TopicPartition = tuple[str, int]


class LogSizes:
    """Of one cluster. `growth`: by partition, as long as it is asked for."""

    def __init__(
        self, cluster: str, setting: str, brokers: Brokers, metadata: TopicMetadata, clock: Clock
    ) -> None:
        self.growth: dict[TopicPartition, LogGrowth] = {}
        self.is_refused = False
        self._cluster = cluster
        self._setting = setting
        self._brokers = brokers
        self._metadata = metadata
        self._clock = clock
        self._asked_at: float | None = None

    async def refresh(self, partitions: Iterable[TopicPartition], *, timeout: float) -> None:
        """Looks at the sizes of these logs, and forgets all others."""
        wanted = set(partitions)
        self.growth = {p: growth for p, growth in self.growth.items() if p in wanted}
        now = self._clock.monotonic()
        every = ASK_AGAIN if self.is_refused else ASK_EVERY
        if not wanted or (self._asked_at is not None and now - self._asked_at < every):
            return
        self._asked_at = now
        by_leader: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for topic, partition in sorted(wanted):
            by_leader[self._metadata.leader(topic, partition)][topic].append(partition)
        by_leader.pop(NO_LEADER, None)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.gather(*(self._try(*asked) for asked in by_leader.items()))
        except TimeoutError:
            log.debug("sizes of logs unknown", cluster=self._cluster, problem="no time left")

    async def _try(self, leader: int, topics: Mapping[str, list[int]]) -> None:
        """A broker that does not answer leaves the others alone."""
        try:
            await self._ask(leader, topics)
        except (*UNANSWERED, *TOO_OLD, KafkaError) as error:
            log.debug("sizes of logs unknown", cluster=self._cluster, problem=str(error))

    async def _ask(self, leader: int, topics: Mapping[str, list[int]]) -> None:
        """The ends after the sizes: what is after an end was appended after its size was seen."""
        starts = await self._offsets(leader, topics, EARLIEST)
        response = await self._brokers.send(leader, DescribeLogDirsRequest(topics))
        at = self._clock.now_ms()
        self._note(is_refused=is_refused(response))
        ends = await self._offsets(leader, topics, LATEST)
        for topic, partition, size in log_sizes(response):
            place = (topic, partition)
            if place in starts and place in ends:
                growth = self.growth.setdefault(place, LogGrowth())
                growth.observe(at, size, starts[place], ends[place])

    async def _offsets(
        self, leader: int, topics: Mapping[str, list[int]], time: int
    ) -> dict[TopicPartition, int]:
        asked = [(topic, [(p, time) for p in listed]) for topic, listed in topics.items()]
        answer = await self._brokers.send(leader, ListOffsetsRequest(asked))
        return {
            place: found.offset
            for place, error, found in listed_offsets(answer)
            if error == NO_ERROR
        }

    def _note(self, *, is_refused: bool) -> None:
        if is_refused and not self.is_refused:
            problem = (
                "not authorised: DESCRIBE on the cluster; how long until size (retention.bytes) "
                "deletes records is unknown"
            )
            log_retry(AuthorizationFailed(self._cluster, f"{self._setting}.kafka", problem))
        self.is_refused = is_refused
