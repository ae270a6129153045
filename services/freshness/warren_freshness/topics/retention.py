"""How long topics keep records, and whether size deletes them too: asked for rarely
(DescribeConfigs, which tells the broker's defaults where a topic has nothing of its own)."""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

import structlog
from warren.clock import Clock
from warren.errors import KafkaError
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.metadata import topic_configs, topic_configs_request

log = structlog.get_logger(__name__)

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
