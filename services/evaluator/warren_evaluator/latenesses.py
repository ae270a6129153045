"""Latenesses: how late each group is, from `warren.freshness`, at hand when the group is judged."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence

import structlog
from warren.contracts import FreshnessEvent
from warren.errors import ContractViolation
from warren.judgement.lateness import CorruptLateness, Lateness, decode, encode, lateness_after

from warren_evaluator.records import SourceRecord
from warren_evaluator.table import Table

log = structlog.get_logger(__name__)
KEPT_DECODED = 4096  # groups that are not OK, at most


class Latenesses:
    """What is known of the groups of this worker's partitions."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of(self, key: bytes) -> Lateness | None:
        """None while nothing is known."""
        value = self._table.read(key)
        return None if value is None else _decoded(value)

    async def run(self, records: Sequence[SourceRecord]) -> None:
        """Takes in records of `warren.freshness`; when it has returned they may be acknowledged."""
        changed: dict[bytes, SourceRecord] = {}
        known: dict[bytes, Lateness | None] = {}
        for record in records:
            if record.key is None:
                continue
            try:
                event = None if record.value is None else FreshnessEvent.from_bytes(record.value)
            except ContractViolation as violation:
                _refuse(record, violation.reason)
                continue
            before = known[record.key] if record.key in known else self.of(record.key)
            known[record.key] = None if event is None else lateness_after(event, before)
            changed[record.key] = record
        waiting = [
            await self._table.save(
                key, None if (late := known[key]) is None else encode(late), record.partition
            )
            for key, record in changed.items()
        ]
        await asyncio.gather(*waiting)


@functools.lru_cache(maxsize=KEPT_DECODED)
def _decoded(value: bytes) -> Lateness | None:
    try:
        return decode(value)
    except CorruptLateness:
        return None  # until the group's next event


def _refuse(record: SourceRecord, reason: str) -> None:
    log.warning(
        "event refused",
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        reason=reason,
    )
