"""How much a pass may still read."""

from __future__ import annotations


class ByteBudget:
    """Bytes of record batches that a pass may read from a cluster, shared by its brokers.

    What is asked for is reserved until it has come: batches are as large as they are, so a pass may
    read more in the end. It is then missing in the next ones.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.left = most
        self.used = 0

    def renew(self) -> None:
        """The next pass begins."""
        self.left = min(self.left, 0) + self._most

    def reserve(self, count: int) -> None:
        """So much is expected; where nobody waits for it any more, it comes nevertheless."""
        self.left -= count
        self.used += count

    def settle(self, reserved: int, count: int) -> None:
        """`count` bytes have come instead of those that were reserved."""
        self.left += reserved - count
        self.used += count - reserved
