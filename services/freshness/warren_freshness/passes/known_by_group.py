"""What is known of one cluster's groups, by home partition: it comes and goes with the groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Generic, TypeVar

from warren_freshness.positions.group_positions import GroupKey, GroupSnapshot

Known = TypeVar("Known")


class KnownByGroup(Generic[Known]):
    """Whoever keeps something of each group says what."""

    def __init__(self) -> None:
        self._groups: dict[int, dict[GroupKey, Known]] = defaultdict(dict)

    def _get(self, group: GroupSnapshot) -> Known | None:
        return self._groups[group.home_partition].get((group.cluster, group.group))

    def forget(self, groups: Iterable[GroupKey]) -> None:
        """These groups are deleted."""
        for key in groups:
            for of_home in self._groups.values():
                of_home.pop(key, None)

    def release(self, home_partitions: Iterable[int]) -> None:
        """Another instance knows it from now on."""
        for partition in home_partitions:
            self._groups.pop(partition, None)
