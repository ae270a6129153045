"""Topics that a cluster had and has no more, and the groups that read them: what is remembered of
them, of the newest alone. Whoever calls holds the lock.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

TopicName = tuple[str, str]
"""Cluster and topic."""
KEPT = 1_000
"""Topics that are remembered, of all clusters."""


class DeletedTopic(NamedTuple):
    """`at`: when a list of all topics first was without it, Unix milliseconds."""

    topic: str
    at: int
    readers: list[str]
    """Groups that had committed offsets of it, by name."""


class DeletedTopics:
    """By cluster and name."""

    def __init__(self) -> None:
        self._at: dict[TopicName, int] = {}
        self._readers: dict[TopicName, set[str]] = {}

    def list_all(
        self, cluster: str, before: Collection[str], now: Collection[str], at: int
    ) -> None:
        """Topics of the list before, and of the next one."""
        for topic in now:
            self._at.pop((cluster, topic), None)
        for topic in sorted(set(before).difference(now)):
            self._at[cluster, topic] = at
        _shorten(self._at)

    def leave(self, name: TopicName, group: str) -> None:
        """A group has no offsets of it any more."""
        self._readers.setdefault(name, set()).add(group)
        _shorten(self._readers)

    def topic(self, name: TopicName) -> DeletedTopic | None:
        """None where it is there, or was never seen."""
        at = self._at.get(name)
        readers = sorted(self._readers.get(name, ()))
        return None if at is None else DeletedTopic(name[1], at, readers)

    def read_by(self, cluster: str, group: str) -> list[DeletedTopic]:
        """The newest first."""
        found = [
            deleted
            for name in self._at
            if name[0] == cluster and group in self._readers.get(name, ())
            if (deleted := self.topic(name)) is not None
        ]
        return sorted(found, key=lambda one: (-one.at, one.topic))


def _shorten(known: dict[TopicName, int] | dict[TopicName, set[str]]) -> None:
    while len(known) > KEPT:
        del known[next(iter(known))]
