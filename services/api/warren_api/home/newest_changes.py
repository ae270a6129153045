"""The newest records of a topic that is read from its beginning, partition after partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from confluent_kafka import Message


class _Dated(NamedTuple):
    """`at`: the record's time, or that of an earlier one of its partition where that is later."""

    at: int
    partition: int
    offset: int
    record: Message


class NewestChanges:
    """At most twice `limit` records at any time; partitions come in any order."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[_Dated] = []
        self._latest: dict[int, int] = {}
        self.newest_offsets: dict[int, int] = {}

    def add(self, records: Iterable[Message]) -> None:
        """Records of one partition come in their order."""
        for record in records:
            partition, offset = record.partition() or 0, record.offset() or 0
            at = max(record.timestamp()[1], self._latest.get(partition, 0))
            self._latest[partition] = at
            self.newest_offsets[partition] = offset
            self._kept.append(_Dated(at, partition, offset, record))
            if len(self._kept) >= 2 * self._limit:
                self._cut()

    def in_order(self) -> Sequence[Message]:
        """The newest `limit`, oldest first; those of a partition in its order."""
        self._cut()
        return [dated.record for dated in self._kept]

    def _cut(self) -> None:
        self._kept = sorted(self._kept, key=lambda dated: dated[:3])[-self._limit :]
