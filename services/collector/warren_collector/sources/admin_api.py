"""Source `admin_api`: coordinators are asked for their groups' offsets.

For clusters that hide `__consumer_offsets`. Needs DESCRIBE on the groups (or the cluster) and on
the topics only. The broker does not say when an offset was committed.
"""

from __future__ import annotations

import asyncio

from warren.clock import Clock
from warren.kafka.refusals import Refusals
from warren.settings import KafkaConnection
from warren_wire.brokers import Brokers
from warren_wire.committed_offsets import TopicOffsets
from warren_wire.layout import GROUP_NOT_AUTHORISED

from warren_collector.admin.group_admin import (
    GroupAdmin,
    ListedGroup,
    Refusal,
)
from warren_collector.sources.polling import Owns
from warren_collector.sources.snapshot import Snapshot


class AdminApiReader:
    """For one thread: its event loop runs only within `read` and `close`."""

    def __init__(
        self, cluster: str, setting: str, connection: KafkaConnection, clock: Clock
    ) -> None:
        self._brokers = Brokers(cluster, setting, connection)
        self._admin = GroupAdmin(self._brokers)
        self._clock = clock
        self._refusals = Refusals(cluster, setting, "DESCRIBE", "group", "their lag is unknown")
        self._runner = asyncio.Runner()

    def read(self, shards: frozenset[int], owns: Owns) -> Snapshot:
        """Raises ClusterUnreachable when no broker answers, AuthenticationFailed."""
        return self._runner.run(self._read(shards, owns))

    def close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()

    async def _read(self, shards: frozenset[int], owns: Owns) -> Snapshot:
        listing = await self._admin.list()
        asked = [group for group in listing.groups.values() if _has_offsets(group, owns)]
        answers = await self._admin.committed(asked)
        read: dict[str, TopicOffsets] = {}
        refused: set[str] = set()
        for group, answer in answers.items():
            if not isinstance(answer, Refusal):
                read[group] = answer
            elif answer.error == GROUP_NOT_AUTHORISED:
                refused.add(group)
        self._refusals.observe(refused)
        return Snapshot(
            read_at=self._clock.now_ms(),
            shards=shards,
            groups=read,
            unread=frozenset(listing.groups.keys() - read.keys()),
            is_complete=listing.is_complete,
        )


def _has_offsets(group: ListedGroup, owns: Owns) -> bool:
    """Share groups have no committed offsets."""
    return group.type != "share" and owns(group.name)
