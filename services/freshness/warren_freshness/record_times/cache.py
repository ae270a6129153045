"""Record times by position: memory first, then Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from warren.installation import Installation
from warren.metrics.freshness import FRESHNESS_LOOKUPS

from warren_freshness.log_position import LogPosition, RecordTimes
from warren_freshness.record_times.local_cache import LocalCache
from warren_freshness.record_times.redis_cache import RedisCache

CHUNK = 5000  # keys that are made at a time: each is longer than what it stands for


class TimeCache:
    """Append times around positions of one cluster.

    A topic's id is part of the key: a topic that was deleted and created again has other records
    at the same offsets.
    """

    def __init__(
        self,
        cluster: str,
        local: LocalCache,
        shared: RedisCache,
        installation: Installation | None = None,
    ) -> None:
        self._cluster = cluster
        self._prefix = (installation or Installation()).cache_prefix
        self._local = local
        self._shared = shared
        self._sharing: asyncio.Task[None] | None = None

    async def get_many(
        self, positions: Iterable[LogPosition], topic_ids: Mapping[str, str]
    ) -> dict[LogPosition, RecordTimes]:
        """Those that are known."""
        found: dict[LogPosition, RecordTimes] = {}
        wanted = list(positions)
        for start in range(0, len(wanted), CHUNK):
            found.update(await self._get(wanted[start : start + CHUNK], topic_ids))
        return found

    async def _get(
        self, positions: Iterable[LogPosition], topic_ids: Mapping[str, str]
    ) -> dict[LogPosition, RecordTimes]:
        keys = {self._key(position, topic_ids): position for position in positions}
        found = self._local.get_many(list(keys))
        missing = [key for key in keys if key not in found]
        shared = await self._shared.get_many(missing) if missing else {}
        self._local.put_many(shared)
        for where, count in (
            ("memory", len(found)),
            ("redis", len(shared)),
            ("log", len(missing) - len(shared)),
        ):
            FRESHNESS_LOOKUPS.labels(self._cluster, where).inc(count)
        return {keys[key]: times for key, times in (found | shared).items()}

    async def put_many(
        self, times: Mapping[LogPosition, RecordTimes], topic_ids: Mapping[str, str]
    ) -> None:
        """Keeps them; Redis gets them while others work on."""
        entries = {self._key(position, topic_ids): t for position, t in times.items()}
        self._local.put_many(entries)
        await self.flush()
        if entries:
            self._sharing = asyncio.create_task(self._shared.put_many(entries))

    async def flush(self) -> None:
        """Waits until Redis has what was put last."""
        if self._sharing is not None:
            await self._sharing
            self._sharing = None

    def _key(self, position: LogPosition, topic_ids: Mapping[str, str]) -> str:
        topic, partition, offset = position
        identity = topic_ids.get(topic, "")
        return f"{self._prefix}append-time:{self._cluster}:{topic}:{identity}:{partition}:{offset}"
