"""How long topics keep records, and whether size deletes them too: asked for rarely
(DescribeConfigs, which tells the broker's defaults where a topic has nothing of its own).

Sizes of logs that are kept below a size are asked of the partitions' leaders: DescribeLogDirs, and
then where they end.
"""

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
from warren_wire.metadata import NO_ERROR, NO_LEADER, TOO_OLD, topic_configs, topic_configs_request
from warren_wire.partition_requests import (
    EARLIEST,
    LATEST,
    DescribeLogDirsRequest,
    ListOffsetsRequest,
    is_refused,
    listed_offsets,
    log_sizes,
)

from warren_freshness.topics.metadata import TopicMetadata

log = structlog.get_logger(__name__)

MOST_POINTS = 32
# The rate is that of this time at least: bursts of a moment are no rate.
RATE_MS = 60_000
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


CHUNK = 500  # topics in one request
FOR_EVER = -1
_RETENTION = "retention.ms"
_SIZE = "retention.bytes"
_CLEANUP = "cleanup.policy"
_BATCH = "max.message.bytes"
LARGEST_BATCH = 2**20 + 12  # bytes, by default
_TIERED = "remote.storage.enable"
_ENTRIES = (_RETENTION, _SIZE, _CLEANUP, _BATCH, _TIERED)
_LOG_OVERHEAD = 12  # bytes: offset and length


class SizeLimit(NamedTuple):
    """`size`: records are kept while no more than so many bytes of the log are after them.
    `largest_batch`: no record has more bytes in the log."""

    size: int
    largest_batch: int


class TopicRetention(NamedTuple):
    """`milliseconds` that a record is kept at least as far as time goes; None: for ever. `limit`:
    how large its logs become; None: as large as may be. `is_tiered`: older records may be in remote
    storage (KIP-405)."""

    milliseconds: int | None
    limit: SizeLimit | None = None
    is_tiered: bool = False


_UNKNOWN = TopicRetention(None)


class Retention:
    """Retention of a cluster's topics, as far as DESCRIBE_CONFIGS on them is granted."""

    def __init__(self, cluster: str, brokers: Brokers, refresh_after: float, clock: Clock) -> None:
        self._cluster = cluster
        self._brokers = brokers
        self._refresh_after = refresh_after
        self._clock = clock
        self._retention: dict[str, TopicRetention] = {}
        self._requested: frozenset[str] = frozenset()
        self._requested_at: float | None = None

    def of(self, topic: str) -> int | None:
        """Milliseconds that a record is kept at least; None: for ever, or unknown."""
        return self._retention.get(topic, _UNKNOWN).milliseconds

    def is_known(self, topic: str) -> bool:
        """Whether the topic's configuration could be read."""
        return topic in self._retention

    def limit(self, topic: str) -> SizeLimit | None:
        """Where records go when the log grows too large, however young they are."""
        return self._retention.get(topic, _UNKNOWN).limit

    def is_tiered(self, topic: str) -> bool:
        """Whether brokers may have to fetch older records from elsewhere (KIP-405)."""
        return self._retention.get(topic, _UNKNOWN).is_tiered

    async def refresh(self, topics: Iterable[str], *, timeout: float) -> None:
        """Asks for topics that are new, and for all after a while. On trouble, what was stays."""
        wanted = frozenset(topics)
        now = self._clock.monotonic()
        due = self._requested_at is None or now - self._requested_at >= self._refresh_after
        requested = sorted(wanted if due else wanted - self._requested)
        if not requested:
            return
        try:
            async with asyncio.timeout(timeout):
                found = await self._ask(requested)
        except (*UNANSWERED, KafkaError) as error:
            log.debug("retention unknown", cluster=self._cluster, problem=str(error))
            return
        self._retention = ({} if due else self._retention) | found
        self._requested = wanted if due else self._requested | wanted
        self._requested_at = now if due else self._requested_at

    async def _ask(self, topics: list[str]) -> dict[str, TopicRetention]:
        found: dict[str, TopicRetention] = {}
        for start in range(0, len(topics), CHUNK):
            request = topic_configs_request(topics[start : start + CHUNK], _ENTRIES)
            for topic, config in topic_configs(await self._brokers.send_to_any(request)):
                is_tiered = config.get(_TIERED) == "true"
                found[topic] = TopicRetention(retention_ms(config), size_limit(config), is_tiered)
        return found


def retention_ms(config: dict[str, str]) -> int | None:
    """From a topic's configuration; None when time deletes nothing.

    A topic that is only compacted keeps the newest record of each key, however old.
    """
    milliseconds = int(config.get(_RETENTION, FOR_EVER))
    return milliseconds if _deletes(config) and milliseconds != FOR_EVER else None


def size_limit(config: dict[str, str]) -> SizeLimit | None:
    """From a topic's configuration; None when its logs may grow for ever."""
    size = int(config.get(_SIZE, FOR_EVER))
    if size == FOR_EVER or not _deletes(config):
        return None
    return SizeLimit(size, int(config.get(_BATCH, LARGEST_BATCH)) + _LOG_OVERHEAD)


def _deletes(config: dict[str, str]) -> bool:
    return "delete" in {policy.strip() for policy in config.get(_CLEANUP, "delete").split(",")}
