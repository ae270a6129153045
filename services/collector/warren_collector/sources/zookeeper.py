"""Source `zookeeper`: offsets of consumers older than Kafka 0.9, and of others that keep them so.

`/consumers/<group>/offsets/<topic>/<partition>` holds the offset as decimal text; the time of the
node's last change is the commit's.
"""

from __future__ import annotations

import structlog
from warren.clock import Clock
from warren_wire.committed_offsets import TopicOffsets, from_commits

from warren_collector.admin.zookeeper_client import Node, ZookeeperClient
from warren_collector.sources.polling import Owns
from warren_collector.sources.source import Snapshot

log = structlog.get_logger(__name__)

CONSUMERS = "/consumers"
Commit = tuple[int, int, int]
"""Partition, offset, Unix milliseconds."""


class ZookeeperReader:
    """For one thread."""

    def __init__(self, client: ZookeeperClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._unusable: frozenset[str] = frozenset()

    def read(self, shards: frozenset[int], owns: Owns) -> Snapshot:
        """Raises ClusterUnreachable, AuthenticationFailed or AuthorizationFailed."""
        groups = list_groups(self._client)
        owned = [group for group in groups if owns(group)]
        commits: dict[str, dict[str, list[Commit]]] = {group: {} for group in owned}
        unusable: set[str] = set()
        for path, node in self._client.nodes(self._partition_paths(owned)):
            _, _, group, _, topic, number = path.split("/")
            commit = _commit(number, node)
            if commit is None:
                unusable.add(path)
            else:
                commits[group].setdefault(topic, []).append(commit)
        self._report(frozenset(unusable))
        return Snapshot(
            read_at=self._clock.now_ms(),
            shards=shards,
            groups={group: _offsets(topics) for group, topics in commits.items()},
            unread=frozenset(groups).difference(owned),
        )

    def close(self) -> None:
        self._client.close()

    def _partition_paths(self, groups: list[str]) -> list[str]:
        topics = [
            f"{path}/{topic}"
            for path, names in self._client.children(f"{CONSUMERS}/{g}/offsets" for g in groups)
            for topic in names
        ]
        return [
            f"{path}/{number}" for path, names in self._client.children(topics) for number in names
        ]

    def _report(self, unusable: frozenset[str]) -> None:
        news = sorted(unusable - self._unusable)
        self._unusable = unusable
        if news:
            log.warning("not an offset in ZooKeeper, left out", node=news[0], nodes=len(news))


def list_groups(client: ZookeeperClient) -> list[str]:
    """Names of all groups, whether they committed or not."""
    return [name for _, names in client.children([CONSUMERS]) for name in names]


def _commit(number: str, node: Node) -> Commit | None:
    """None for what is no partition or no offset."""
    try:
        partition, offset = int(number), int(node.value)
    except ValueError:
        return None
    usable = 0 <= partition < 2**31 and 0 <= offset < 2**63
    return (partition, offset, node.modified_at) if usable else None


def _offsets(topics: dict[str, list[Commit]]) -> TopicOffsets:
    return {topic: from_commits(commits) for topic, commits in topics.items()}
