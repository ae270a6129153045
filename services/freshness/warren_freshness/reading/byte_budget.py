"""How much a pass may still read."""

from __future__ import annotations


class ByteBudget:
    """Bytes of record batches that a pass may read from a cluster, shared by its brokers."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.used = 0

    def spend(self, count: int) -> None:
        self.left -= count
        self.used += count
