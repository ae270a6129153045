"""Records beyond a partition's last stable offset, isolated as by Kafka's coordinator: pure.

A plain commit counts at once, one of a transaction when its marker comes; of each key the record
written last wins, so a plain commit may have passed a transaction's that was written before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warren_wire.record_batches import Record, RecordBatch


class Visible(NamedTuple):
    """A record that counts. `since` is the offset by which: its own, or its marker's."""

    record: Record
    since: int


class OpenTransactions:
    """Takes in batches in the order of the log, from `start` on."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.position = start
        """Offset after what was taken in."""
        self._pending: dict[int, list[Record]] = {}
        self._newest: dict[bytes | None, int] = {}
        self._stable_end = start

    @property
    def pending(self) -> int:
        """Records whose transactions are open."""
        return sum(map(len, self._pending.values()))

    def take(self, batch: RecordBatch) -> Iterator[Visible]:
        """What the batch makes visible; exhaust it. Raises UnreadableBatch."""
        begins, self.position = self.position, max(self.position, batch.next_offset)
        if batch.is_control:
            ended = self._pending.pop(batch.producer_id, []) if batch.marker else []
            if batch.marker == "commit":
                yield from self._committed(ended, batch.next_offset - 1)
            return
        records = (record for record in batch.records() if record.offset >= begins)
        if batch.is_transactional:
            self._pending.setdefault(batch.producer_id, []).extend(records)
            return
        for record in records:
            self._newest[record.key] = record.offset
            yield Visible(record, record.offset)

    def decide(self, stable_end: int) -> None:
        """Before that offset no transaction is open: nothing is passed there any more."""
        if stable_end > self._stable_end:
            self._stable_end = stable_end
            self._newest = {key: at for key, at in self._newest.items() if at >= stable_end}

    def _committed(self, records: list[Record], marker: int) -> Iterator[Visible]:
        for record in records:
            if record.offset > self._newest.get(record.key, -1):
                self._newest[record.key] = record.offset
                yield Visible(record, marker)
