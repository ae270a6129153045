"""Whose turn it is where a pass cannot read all: who waits longest, the latest of them first."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable
from typing import NamedTuple

from warren_freshness.log_position import LogPosition
from warren_freshness.positions.group_positions import GroupKey
from warren_freshness.positions.partition_state import PartitionState

_Place = tuple[GroupKey, str, int]
"""A group's partition: the group may move on while it waits."""

_REMEMBERED = 10  # passes in a row that could not read all


class Reader(NamedTuple):
    """A group at the position where it goes on reading."""

    group: GroupKey
    position: LogPosition
    state: PartitionState


class Waiting:
    """How many passes in a row left groups' partitions unread. Of one cluster.

    As each pass begins with those that wait longest, nobody waits longer than it takes to read all
    that is wanted once: `bound` passes, at the pace of the last ones.
    """

    def __init__(self) -> None:
        self.bound = 1
        self._read: deque[int] = deque(maxlen=_REMEMBERED)
        self._passes: dict[_Place, int] = {}

    @property
    def longest(self) -> int:
        """Passes for which somebody has waited by now; 0: nobody waits."""
        return max(self._passes.values(), default=0)

    def in_order(
        self, readers: Iterable[Reader], missing: Collection[LogPosition]
    ) -> list[LogPosition]:
        """The missing positions, the first to be read first."""
        if not missing:
            return []
        wanted = frozenset(missing)
        ranks: dict[LogPosition, tuple[int, int, int]] = {}
        for group, position, state in readers:
            if position in wanted:
                waited = self._passes.get((group, position.topic, position.partition), 0)
                rank = (-waited, _late_since(state), state.committed_at)
                ranks[position] = min(rank, ranks.get(position, rank))
        return sorted(missing, key=ranks.__getitem__)

    def take(self, readers: Iterable[Reader], wanted: int, unread: Collection[LogPosition]) -> None:
        """Of `wanted` positions a pass left some unread."""
        self._read.append(wanted - len(unread))
        if not unread:
            self._read.clear()
        pace = max(sum(self._read), 1) / max(len(self._read), 1)
        self.bound = math.ceil(wanted / pace) if unread else 1
        waiting = (
            (group, position.topic, position.partition)
            for group, position, _ in (readers if unread else ())
            if position in unread
        )
        self._passes = {place: self._passes.get(place, 0) + 1 for place in waiting}


def _late_since(state: PartitionState) -> int:
    since = state.known_since
    return state.log_observed_at if since is None else since
