"""Memberships: who is in each group, from `warren.groups`, at hand when the group is judged."""

import asyncio
import functools
from collections.abc import Sequence
from typing import Any

import structlog
from warren.clock import Clock
from warren.contracts import GroupEvent
from warren.errors import ContractViolation
from warren_core.clocks import is_ahead, require_past
from warren_core.judgement.membership import (
    CorruptMembership,
    Membership,
    decode,
    encode,
    membership_after,
)

from warren_evaluator.faust_corrections.oversize import is_oversize
from warren_evaluator.records import SourceRecord, Table

log = structlog.get_logger(__name__)
KEPT_DECODED = 4096  # groups that are not OK, at most
TOO_MANY = "too many members to remember"


class Memberships:
    """What is known of the groups of this worker's partitions."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def of(self, key: bytes) -> Membership | None:
        """None while nothing is known."""
        value = self._table.read(key)
        return None if value is None else _decoded(value)

    async def run(self, records: Sequence[SourceRecord]) -> None:
        """Takes in records of `warren.groups`; when it has returned they may be acknowledged."""
        changed: dict[bytes, SourceRecord] = {}
        known: dict[bytes, Membership | None] = {}
        for record in records:
            if record.key is None:
                continue
            now = self._clock.now_ms()
            try:
                event = None
                if record.value is not None:
                    event = GroupEvent.from_record(record.key, record.value)
                    require_past("observed_at", event.observed_at, now)
            except ContractViolation as violation:
                log.warning("event refused", **record.place, reason=violation.reason)
                continue
            before = known[record.key] if record.key in known else self.of(record.key)
            if before is not None and is_ahead(before.observed_at, now):
                before = None
            known[record.key] = None if event is None else membership_after(event, before)
            changed[record.key] = record
        waiting = [await self._save(record, known[key]) for key, record in changed.items()]
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        for record, outcome in zip(changed.values(), outcomes, strict=True):
            if not isinstance(outcome, BaseException):
                continue
            if not is_oversize(outcome):
                raise outcome
            log.warning(TOO_MANY, **record.place, reason=str(outcome))

    async def _save(self, record: SourceRecord, membership: Membership | None) -> Any:
        assert record.key is not None  # only those are folded
        value = None if membership is None else encode(membership)
        try:
            return await self._table.save(record.key, value, record.partition)
        except Exception as error:
            if not is_oversize(error):
                raise
            log.warning(TOO_MANY, **record.place, reason=str(error))
            return asyncio.sleep(0)


@functools.lru_cache(maxsize=KEPT_DECODED)
def _decoded(value: bytes) -> Membership | None:
    try:
        return decode(value)
    except CorruptMembership:
        return None  # until the group's next event
