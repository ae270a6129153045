"""Whose turn it is where a pass cannot read all: who waits longest, the latest of them first."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from warren_freshness.log_position import LogPosition
from warren_freshness.positions.group_positions import GroupKey
from warren_freshness.positions.partition_state import PartitionState

_Partition = tuple[str, int]

_NOTHING: Mapping[_Partition, int] = {}
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
        # By group and partition: the group may move on while it waits.
        self._passes: dict[GroupKey, dict[_Partition, int]] = {}

    @property
    def longest(self) -> int:
        """Passes for which somebody has waited by now; 0: nobody waits."""
        return max(chain.from_iterable(p.values() for p in self._passes.values()), default=0)

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
                passes = self._passes.get(group)
                waited = passes.get(position[:2], 0) if passes else 0
                rank = (-waited, _late_since(state), state.committed_at)
                before = ranks.get(position)
                if before is None or rank < before:
                    ranks[position] = rank
        return sorted(missing, key=ranks.__getitem__)

    def take(self, readers: Iterable[Reader], wanted: int, unread: Collection[LogPosition]) -> None:
        """Of `wanted` positions a pass left some unread."""
        self._read.append(wanted - len(unread))
        if not unread:
            self._read.clear()
        pace = max(sum(self._read), 1) / max(len(self._read), 1)
        self.bound = math.ceil(wanted / pace) if unread else 1
        passes: dict[GroupKey, dict[_Partition, int]] = defaultdict(dict)
        for group, position, _ in readers if unread else ():
            if position in unread:
                partition = position[:2]
                before = self._passes.get(group, _NOTHING).get(partition, 0)
                passes[group][partition] = before + 1
        self._passes = dict(passes)


def _late_since(state: PartitionState) -> int:
    since = state.known_since
    return state.log_observed_at if since is None else since
