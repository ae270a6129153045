"""Reading the live state of many groups: listed often, described in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from warren.clock import Clock

from warren_collector.groups.live.group import LiveGroup, LiveState
from warren_collector.sources.polling import GONE_AFTER, Owns


class Describer(Protocol):
    """Who is asked. Its methods raise KafkaError."""

    def listed(self) -> tuple[Mapping[str, LiveGroup], bool]:
        """All groups with what the list tells of them; False: there may be others."""

    def describe(self, groups: Iterable[LiveGroup]) -> Sequence[LiveGroup]:
        """Listed groups with all that can be had; those that nobody answered for are missing."""

    def partition_counts(self, topics: Iterable[str]) -> Mapping[str, int]:
        """Partitions by topic, of those that may be described."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Look:
    """When a group was described (monotonic seconds), as what, and how it was listed then."""

    at: float
    group: LiveGroup
    listed: LiveGroup


class LiveReader:
    """A group is described when it is new or listed otherwise than before, and every `interval`.

    For one thread.
    """

    def __init__(self, describer: Describer, interval: float, clock: Clock) -> None:
        """`interval` in seconds."""
        self._describer = describer
        self._interval = interval
        self._clock = clock
        self._looks: dict[str, _Look] = {}
        self._absences: Counter[str] = Counter()
        self._partitions: dict[str, int] = {}

    def read(self, shards: frozenset[int], owns: Owns) -> LiveState:
        """Raises KafkaError."""
        listed, is_complete = self._describer.listed()
        owned = {name: group for name, group in listed.items() if owns(name)}
        self._forget(owned, is_complete, owns)
        now = self._clock.monotonic()
        due = [group for group in owned.values() if self._is_due(group, now)]
        for group in self._describer.describe(due):
            self._looks[group.name] = self._look(group, owned[group.name], now)
        if due:
            self._count_partitions()
        groups = {name: look.group for name, look in self._looks.items()}
        return LiveState(shards, groups, self._partitions)

    def close(self) -> None:
        self._describer.close()

    def _is_due(self, listed: LiveGroup, now: float) -> bool:
        look = self._looks.get(listed.name)
        return look is None or look.listed != listed or now - look.at >= self._interval

    def _look(self, group: LiveGroup, listed: LiveGroup, now: float) -> _Look:
        before = self._looks.get(group.name)
        if before is not None:
            is_other = _is_rebalanced(before.group, group)
            group = replace(
                group,
                rebalances=before.group.rebalances + is_other,
                last_rebalance_at=(
                    self._clock.now_ms() if is_other else before.group.last_rebalance_at
                ),
            )
        return _Look(now, group, listed)

    def _forget(self, owned: Mapping[str, LiveGroup], is_complete: bool, owns: Owns) -> None:
        for name in list(self._looks):
            if name in owned:
                self._absences.pop(name, None)
                continue
            self._absences[name] += is_complete
            if not owns(name) or self._absences[name] >= GONE_AFTER:
                del self._looks[name]
                del self._absences[name]

    def _count_partitions(self) -> None:
        topics = {
            topic
            for look in self._looks.values()
            for member in look.group.members or ()
            for topic in member.subscription
        }
        self._partitions = dict(self._describer.partition_counts(topics)) if topics else {}


def _is_rebalanced(before: LiveGroup, now: LiveGroup) -> bool:
    """Another generation or, where none is told, others who have something assigned."""
    if now.generation >= 0 and before.generation >= 0:
        return now.generation != before.generation
    if not now.members:  # all have left, or it is in the middle of one
        return False
    return _assignments(before) != _assignments(now)


def _assignments(group: LiveGroup) -> dict[str, Mapping[str, Sequence[int]]]:
    return {member.member_id: member.assignment for member in group.members or ()}
