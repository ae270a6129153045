"""Positions that are to be committed: what was refused once is tried again, also without news.

A rebalance refuses commits that come while it goes on. On a topic where nothing happens next, the
position would stay behind for good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping


class Positions:
    """By partition; those of the assigned ones only."""

    def __init__(self) -> None:
        self._due: dict[int, int] = {}

    @property
    def due(self) -> dict[int, int]:
        return dict(self._due)

    def take(self, positions: Mapping[int, int]) -> None:
        """Newer positions replace older ones."""
        self._due.update(positions)

    def committed(self, positions: Mapping[int, int]) -> None:
        for partition, position in positions.items():
            if self._due.get(partition) == position:
                del self._due[partition]

    def revoked(self, partitions: Collection[int]) -> None:
        """The next one who serves them commits what it has done."""
        for partition in partitions:
            self._due.pop(partition, None)
