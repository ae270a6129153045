"""The past of groups, topics and clusters: their last 24 hours, minute by minute.

A topic's minutes come from the groups that consume it: of one that nobody consumes none are known.
"""

from __future__ import annotations

import threading
from typing import TypeVar

import numpy as np
from warren.contracts import TrendEvent, split_group_key
from warren.errors import ContractViolation

from warren_api.model.minutes import CLUSTER, GROUP, KINDS, TOPIC, Figure, Minutes

Name = tuple[str, str]
_OF_CLUSTERS = KINDS | {"lag": "sum"}  # of several groups in one minute
_OF_TOPICS = KINDS | {"produced": "max"}  # each group has seen the same records
Key = TypeVar("Key", str, Name)
Columns = dict[str, list[Figure]]


class Past:
    """Fed by one thread, read by many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[Name, Minutes] = {}
        self._topics: dict[Name, Minutes] = {}
        self._clusters: dict[str, Minutes] = {}

    def begin_again(self) -> None:
        """Forgets all: it is about to be read once more."""
        with self._lock:
            self._groups, self._topics, self._clusters = {}, {}, {}

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.trends`, once each: figures of one minute add up.

        Raises ContractViolation.
        """
        event = TrendEvent.from_bytes(value)
        if split_group_key(key) != (event.cluster, event.group):
            raise ContractViolation("key and value name different groups")
        with self._lock:
            self._apply(event)

    def _apply(self, event: TrendEvent) -> None:
        status = event.status_ms
        figures: dict[str, Figure] = {
            "ok_ms": status.get("OK", 0),
            "warn_ms": status.get("WARN", 0),
            "err_ms": status.get("ERR", 0),
            "lag": event.lag,
            "lag_max": event.lag_max,
            "late_ms": event.late_ms,
            "time_to_loss_ms": event.time_to_loss_ms,
            "produced": event.produced,
            "consumed": event.consumed,
            "members": event.members,
            "rebalances": event.rebalances,
        }
        _of(self._groups, (event.cluster, event.group), GROUP).add(event.minute, figures)
        _of(self._clusters, event.cluster, CLUSTER).add(event.minute, figures, _OF_CLUSTERS)
        topics = event.topics
        for name, lag, produced, consumed, late in zip(
            topics.topic, topics.lag, topics.produced, topics.consumed, topics.late_ms, strict=True
        ):
            own = {"lag_max": lag, "produced": produced, "consumed": consumed, "late_ms": late}
            _of(self._topics, (event.cluster, name), TOPIC).add(event.minute, own, _OF_TOPICS)

    def forget_before(self, at: int) -> None:
        """Drops what has nothing newer than `at`, Unix milliseconds."""
        with self._lock:
            self._groups = _newer(self._groups, at)
            self._topics = _newer(self._topics, at)
            self._clusters = _newer(self._clusters, at)

    def group(self, cluster: str, group: str, start: int, end: int, step: int) -> Columns:
        return _columns(self._groups.get((cluster, group)), GROUP, start, end, step)

    def revision_of_group(self, cluster: str, group: str) -> tuple[int, int]:
        """Another one whenever something of the group's past is."""
        return _revision(self._groups.get((cluster, group)))

    def revision_of_topic(self, cluster: str, topic: str) -> tuple[int, int]:
        """Likewise."""
        return _revision(self._topics.get((cluster, topic)))

    def revision_of_cluster(self, cluster: str) -> tuple[int, int]:
        """Likewise."""
        return _revision(self._clusters.get(cluster))

    def topic(self, cluster: str, topic: str, start: int, end: int, step: int) -> Columns:
        return _columns(self._topics.get((cluster, topic)), TOPIC, start, end, step)

    def cluster(self, cluster: str, start: int, end: int, step: int) -> Columns:
        return _columns(self._clusters.get(cluster), CLUSTER, start, end, step)


def _of(found: dict[Key, Minutes], name: Key, dtype: np.dtype[np.void]) -> Minutes:
    if (minutes := found.get(name)) is None:
        minutes = found[name] = Minutes(dtype)
    return minutes


def _newer(found: dict[Key, Minutes], at: int) -> dict[Key, Minutes]:
    return {name: minutes for name, minutes in found.items() if minutes.newest_at >= at}


def _revision(minutes: Minutes | None) -> tuple[int, int]:
    """With what they are read into, as all may be read once more."""
    return (0, 0) if minutes is None else (id(minutes), minutes.revision)


def _columns(
    minutes: Minutes | None, dtype: np.dtype[np.void], start: int, end: int, step: int
) -> Columns:
    return (minutes or Minutes(dtype)).columns(start, end, step)
