"""Whose turn it is where a pass cannot read all: who waits longest, the latest of them first."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from warren_freshness.log_position import LogPosition
from warren_freshness.positions.group_positions import GroupKey, GroupSnapshot
from warren_freshness.positions.partition_state import PartitionState

_Place = tuple[GroupKey, str, int]
"""A group's partition: the group may move on while it waits."""


class Waiting:
    """How many passes in a row left groups' partitions unread. Of one cluster.

    As each pass begins with those that wait longest, nobody waits longer than it takes to read all
    that is wanted once: `bound` passes, at the pace of the last one.
    """

    def __init__(self) -> None:
        self.bound = 1
        self._passes: dict[_Place, int] = {}

    @property
    def longest(self) -> int:
        """Passes for which somebody has waited by now; 0: nobody waits."""
        return max(self._passes.values(), default=0)

    def in_order(
        self, groups: Iterable[GroupSnapshot], missing: Collection[LogPosition]
    ) -> list[LogPosition]:
        """The missing positions, the first to be read first."""
        wanted = frozenset(missing)
        ranks: dict[LogPosition, tuple[int, int, int]] = {}
        for key, state in _partitions(groups):
            position = state.to_read
            if position is not None and position in wanted:
                waited = self._passes.get(_place(key, state), 0)
                rank = (-waited, _late_since(state), state.committed_at)
                ranks[position] = min(rank, ranks.get(position, rank))
        return sorted(missing, key=ranks.__getitem__)

    def take(
        self,
        groups: Iterable[GroupSnapshot],
        wanted: int,
        unread: Collection[LogPosition],
    ) -> None:
        """Of `wanted` positions a pass left some unread."""
        read = wanted - len(unread)
        self.bound = math.ceil(wanted / max(read, 1)) if unread else 1
        self._passes = {
            place: self._passes.get(place, 0) + 1 for place in _places_at(groups, unread)
        }


def _places_at(groups: Iterable[GroupSnapshot], positions: Collection[LogPosition]) -> list[_Place]:
    if not positions:
        return []
    return [_place(key, state) for key, state in _partitions(groups) if state.to_read in positions]


def _partitions(groups: Iterable[GroupSnapshot]) -> Iterable[tuple[GroupKey, PartitionState]]:
    for group in groups:
        for state in group.states:
            yield (group.cluster, group.group), state


def _place(key: GroupKey, state: PartitionState) -> _Place:
    return key, state.committed.topic, state.committed.partition


def _late_since(state: PartitionState) -> int:
    since = state.known_since
    return state.log_observed_at if since is None else since
