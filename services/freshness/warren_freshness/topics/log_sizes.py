"""Sizes of logs that are kept below a size, asked of the partitions' leaders: DescribeLogDirs, and
then where they end."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

import structlog
from warren.clock import Clock
from warren.errors import AuthorizationFailed, KafkaError
from warren.kafka.connection import log_retry
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.list_offsets import EARLIEST, LATEST, ListOffsetsRequest, listed_offsets
from warren_wire.log_dirs import DescribeLogDirsRequest, is_refused, log_sizes
from warren_wire.metadata import NO_ERROR, NO_LEADER, TOO_OLD

from warren_freshness.topics.metadata import TopicMetadata

MOST_POINTS = 32
# The rate is that of this time at least: bursts of a moment are no rate.
RATE_MS = 60_000
log = structlog.get_logger(__name__)
ASK_EVERY = 5.0  # seconds between two sizes of a log; passes are further apart
ASK_AGAIN = 300.0  # seconds after which a right is asked for again that was not granted
TopicPartition = tuple[str, int]


class _Point(NamedTuple):
    """`appended`: bytes in all up to `at` (Unix ms), from an arbitrary zero on; what came after
    offset `end` was appended later."""

    at: int
    end: int
    appended: int


class LogGrowth:
    """Observations of a log's size, oldest first; of those long ago, fewer and fewer are kept."""

    def __init__(self) -> None:
        self._points: list[_Point] = []
        self._size = 0
        self._start = 0

    def observe(self, at: int, size: int, start: int, end: int) -> None:
        """The log had that size (bytes), and ended there afterwards."""
        last = self._points[-1] if self._points else None
        if last is None or at <= last.at or end < last.end:  # or the topic was made anew
            self._points = [_Point(at, end, 0)]
        else:
            grown = size - self._size
            if start > self._start:
                # What was deleted meanwhile is not known: as many bytes as the records have now.
                grown = max(grown, (end - last.end) * size // max(end - start, 1))
            self._points.append(_Point(at, end, last.appended + max(grown, 0)))
            self._thin_out()
        self._size, self._start = size, start

    @property
    def bytes_per_second(self) -> float | None:
        """The fastest that it has grown lately; None before the second observation."""
        if len(self._points) < 2:
            return None
        *_, second, last = self._points
        begin = min(last.at - RATE_MS, second.at)
        recent = next(point for point in self._points if point.at >= begin)
        since = {self._points[0], recent}
        return max((last.appended - p.appended) * 1000 / (last.at - p.at) for p in since)

    def bytes_after(self, offset: int, largest_batch: int) -> int:
        """At most so many bytes of the log are after an offset. `largest_batch` in bytes."""
        last = self._points[-1]
        least = min(self._size, max(last.end - offset, 0) * largest_batch)
        before = [point for point in self._points if point.end <= offset]
        return min(least, last.appended - before[-1].appended) if before else least

    def time_to_loss(
        self, offset: int, limit: int, largest_batch: int, now: int
    ) -> int | float | None:
        """Milliseconds until as many bytes are after the offset as are kept (`limit`), if the log
        goes on growing like this: before that, no segment with it is deleted. At least 0, infinite
        where it does not grow; None while nobody knows.
        """
        rate = self.bytes_per_second
        if rate is None:
            return None
        if rate == 0:
            return float("inf")
        left = limit - self.bytes_after(offset, largest_batch)
        return max(int(left * 1000 / rate) - (now - self._points[-1].at), 0)

    def _thin_out(self) -> None:
        """Drops the point whose neighbours are closest, in relation to how long ago they are."""
        if len(self._points) <= MOST_POINTS:
            return
        now = self._points[-1].at
        gaps = [
            (after.at - before.at) / (now - before.at + RATE_MS)
            for before, after in pairwise(self._points[:-1])
        ]
        del self._points[gaps.index(min(gaps)) + 1]


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
        self._requested_at: float | None = None

    async def refresh(self, partitions: Iterable[TopicPartition], *, timeout: float) -> None:
        """Looks at the sizes of these logs, and forgets all others."""
        wanted = set(partitions)
        self.growth = {p: growth for p, growth in self.growth.items() if p in wanted}
        now = self._clock.monotonic()
        every = ASK_AGAIN if self.is_refused else ASK_EVERY
        if not wanted or (self._requested_at is not None and now - self._requested_at < every):
            return
        self._requested_at = now
        by_leader: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for topic, partition in sorted(wanted):
            by_leader[self._metadata.leader(topic, partition)][topic].append(partition)
        by_leader.pop(NO_LEADER, None)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.gather(*(self._try(*requested) for requested in by_leader.items()))
        except TimeoutError:
            log.debug("sizes of logs unknown", cluster=self._cluster, problem="no time left")

    async def _try(self, leader: int, topics: Mapping[str, list[int]]) -> None:
        """A broker that does not answer leaves the others alone."""
        try:
            # The ends after the sizes: what is after an end was appended after its size was seen.
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
        except (*UNANSWERED, *TOO_OLD, KafkaError) as error:
            log.debug("sizes of logs unknown", cluster=self._cluster, problem=str(error))

    async def _offsets(
        self, leader: int, topics: Mapping[str, list[int]], time: int
    ) -> dict[TopicPartition, int]:
        requested = [(topic, [(p, time) for p in listed]) for topic, listed in topics.items()]
        answer = await self._brokers.send(leader, ListOffsetsRequest(requested))
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
