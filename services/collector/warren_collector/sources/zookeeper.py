"""Source `zookeeper`: offsets of consumers older than Kafka 0.9, and of others that keep them so.

`/consumers/<group>/offsets/<topic>/<partition>` holds the offset as decimal text; the time of the
node's last change is the commit's.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import structlog
from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, KazooException, NoAuthError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from warren.clock import Clock
from warren.errors import AuthenticationFailed, AuthorizationFailed, ClusterUnreachable, KafkaError
from warren_wire.committed_offsets import from_commits

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
            groups={
                group: {topic: from_commits(found) for topic, found in topics.items()}
                for group, topics in commits.items()
            },
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


TIMEOUT = 5.0  # seconds to connect, and for an answer
REQUESTS_AT_ONCE = 100
# What it has to say reaches people through errors; its own lines are for debugging.
_log = logging.getLogger("kazoo")
_log.setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Node:
    """A node's content. `modified_at`: Unix ms, by the clock of the ZooKeeper that wrote it."""

    value: bytes
    modified_at: int


class ZookeeperClient:
    """Connects when it is first asked. Reads only; needs no more than the right to read.

    All methods raise ClusterUnreachable, AuthenticationFailed or AuthorizationFailed.
    """

    def __init__(self, cluster: str, setting: str, hosts: str, timeout: float = TIMEOUT) -> None:
        """`setting` is the cluster's table; `timeout` in seconds."""
        self._timeout = timeout
        self._cluster = cluster
        self._setting = f"{setting}.zookeeper"
        self._hosts = hosts
        self._client: KazooClient | None = None

    def children(self, paths: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
        """Names of the nodes below each; of a node that does not exist there are none."""
        for path, names in self._ask(self._connected().get_children_async, paths):
            yield path, sorted(names or ())

    def nodes(self, paths: Iterable[str]) -> Iterator[tuple[str, Node]]:
        """The nodes of these that exist."""
        for path, answer in self._ask(self._connected().get_async, paths):
            if answer is not None:
                value, status = answer
                yield path, Node(value, status.mtime)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.stop()
            client.close()

    def _connected(self) -> KazooClient:
        if self._client is None:
            client = KazooClient(self._hosts, timeout=self._timeout, read_only=True, logger=_log)
            try:
                client.start(self._timeout)
            except (KazooTimeoutError, KazooException, OSError) as error:
                client.stop()
                client.close()
                raise self._error(error) from None
            self._client = client
        return self._client

    def _ask(
        self, request: Callable[[str], Any], paths: Iterable[str]
    ) -> Iterator[tuple[str, Any]]:
        """Answers in the order of the paths; None for a node that does not exist."""
        under_way: deque[tuple[str, Any]] = deque()
        try:
            for path in paths:
                if len(under_way) >= REQUESTS_AT_ONCE:
                    yield self._answer(*under_way.popleft())
                under_way.append((path, request(path)))
            while under_way:
                yield self._answer(*under_way.popleft())
        except NoAuthError:
            raise AuthorizationFailed(
                self._cluster, self._setting, "not authorised: READ below /consumers"
            ) from None
        except (KazooException, KazooTimeoutError, OSError) as error:
            self.close()
            raise self._error(error) from None

    def _error(self, error: Exception) -> KafkaError:
        if isinstance(error, AuthFailedError):
            return AuthenticationFailed(self._cluster, self._setting, "authentication failed")
        problem = f"no ZooKeeper answers at {self._hosts}: {str(error) or type(error).__name__}"
        return ClusterUnreachable(self._cluster, self._setting, problem)

    def _answer(self, path: str, result: Any) -> tuple[str, Any]:
        try:
            return path, result.get(timeout=self._timeout)
        except NoNodeError:
            return path, None
