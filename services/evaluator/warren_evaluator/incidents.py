"""Incidents of groups: folded from `warren.lag-status`, published on `warren.incidents`.

The order of effects: published, stored, then the source is acknowledged. What a worker published
and did not live to store is published again, with the same ids. No change is without its incident:
it is read here until it was taken in.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import structlog
from pydantic import BaseModel, ValidationError
from warren.clock import Clock
from warren.contracts import GroupIncidentEvent, Status, StatusChangeEvent
from warren.errors import ContractViolation
from warren_core.group_incident import fold
from warren_core.judgement.state import Applied, GroupState

from warren_evaluator.records import Publication, SourceRecord, Table

log = structlog.get_logger(__name__)

RECENT = 32
"""Ids of a group's newest changes that are remembered: those of a batch may come again."""
EVERY_OFFSET = 2**62
OVER_MS = 3_600_000
"""For so long they are remembered after an incident: changes come again within seconds."""

Publish = Callable[[Publication], Awaitable[Awaitable[Any]]]


class _Stored(BaseModel):
    """A value of the table. `event`: the incident's newest; None: there is none."""

    event: GroupIncidentEvent | None = None
    recent: list[str] = []
    over_at: int | None = None


class _Applied(BaseModel):
    """The newest change of a partition that was taken in, by its place and its time. Its key is the
    partition's number, which is that of no group.
    """

    offset: int = -1
    at: int = 0

    def has(self, record: SourceRecord, at: int) -> bool:
        """Whether it was taken in: offsets may have been lost since, and the past comes again. What
        is newer at a smaller offset is of a topic that was made anew.
        """
        return record.offset <= self.offset and at <= self.at


class Incidents:
    """Those of the groups of this worker's partitions. `topic`: where they are published."""

    def __init__(self, table: Table, topic: str, publish: Publish, clock: Clock) -> None:
        self._table = table
        self._topic = topic
        self._publish = publish
        self._clock = clock
        self._over: deque[tuple[int, bytes, int]] = deque()  # since when, key, partition
        self._folded: dict[bytes, GroupIncidentEvent] = {}  # of lost states, as published
        self._until: dict[int, _Applied] = {}  # of partitions, likewise

    def recovered(
        self, entries: Collection[tuple[bytes, bytes, int]], partitions: Iterable[int] = ()
    ) -> set[int]:
        """Others may have written what is in the table now: (key, value, partition). Gives those of
        the worker's partitions whose state is lost, in part or, as at a first start, in whole.
        """
        over, lost = list[tuple[int, bytes, int]](), set(partitions)
        lost -= {partition for key, _, partition in entries if b"|" not in key}
        self._folded, self._until = {}, {}
        for key, value, partition in entries:
            stored = _stored(value) if b"|" in key else _Stored()
            if stored is None:
                lost.add(partition)
            elif stored.over_at is not None:
                over.append((stored.over_at, key, partition))
        self._over = deque(sorted(over))
        return lost

    def remember(self, folded: Mapping[bytes, tuple[int, GroupIncidentEvent]]) -> None:
        """Goes on from what was published of lost states: what is older was folded."""
        self._folded = {key: event for key, (_, event) in folded.items() if event.data.is_open}
        for partition, event in folded.values():
            at = max(event.data.changed_at, self._until.get(partition, _Applied()).at)
            self._until[partition] = _Applied(offset=EVERY_OFFSET, at=at)

    def state_of(self, key: bytes) -> GroupState | None:
        """What an open incident says of a group whose own state says nothing."""
        event = self._known(key).event
        for each in event.data.open if event else ():
            if (change := each.change).objectives is None:
                # Which source it was, it does not say: any is newer by its time.
                applied = Applied("offsets_topic", -1, each.changed_at)
                return GroupState.new(applied, Status[change.status], change.opened_at)
        return None

    async def run(self, records: Sequence[SourceRecord]) -> None:
        """Takes in status changes; when it has returned they may be acknowledged."""
        known: dict[bytes, _Stored] = {}
        changed: dict[bytes, SourceRecord] = {}
        found: list[Publication] = []
        applied: dict[int, _Applied] = {}
        for record in records:
            try:
                change = StatusChangeEvent.from_record(record.key, record.value)
            except ContractViolation as violation:
                log.warning("event refused", **record.place, reason=violation.reason)
                continue
            key, at = record.key or b"", round(change.time.timestamp() * 1000)
            mark = applied.get(record.partition) or self._applied(record.partition)
            if mark.has(record, at):
                continue
            applied[record.partition] = _Applied(offset=record.offset, at=max(at, mark.at))
            before = known[key] if key in known else self._known(key)
            if change.id in before.recent:
                continue
            try:
                event = fold(before.event, change)
            except ValidationError as error:  # times that are none
                log.warning("event refused", **record.place, reason=str(error))
                continue
            known[key] = self._after(before, change, event)
            changed[key] = record
            if event is not None:
                found.append(
                    Publication(
                        *(self._topic, key, event.to_bytes(), record.partition, record),
                        GroupIncidentEvent.headers,
                    )
                )
        await asyncio.gather(*[await self._publish(item) for item in found])
        await self._save(known, changed, applied)

    def _applied(self, partition: int) -> _Applied:
        value, nothing = self._table.read(_key_of(partition)), _Applied()
        try:
            if value is not None:
                return _Applied.model_validate_json(value)
        except ValidationError:
            log.error("the place of the newest change is unreadable", partition=partition)
        return self._until.get(partition, nothing)

    def _known(self, key: bytes) -> _Stored:
        value = self._table.read(key)
        stored = _Stored() if value is None else _stored(value)
        if stored is not None and (value is not None or key not in self._folded):
            return stored
        return _Stored(event=self._folded.get(key))

    def _after(
        self, before: _Stored, change: StatusChangeEvent, event: GroupIncidentEvent | None
    ) -> _Stored:
        now = event or before.event
        is_open = now is not None and now.data.is_open
        return _Stored(
            event=now if is_open else None,
            recent=[*before.recent, change.id][-RECENT:],
            over_at=None if is_open else self._clock.now_ms(),
        )

    async def _save(
        self,
        known: Mapping[bytes, _Stored],
        changed: Mapping[bytes, SourceRecord],
        applied: Mapping[int, _Applied],
    ) -> None:
        waiting = []
        for key, record in changed.items():
            value = known[key].model_dump_json().encode()
            self._folded.pop(key, None)
            waiting.append(await self._table.save(key, value, record.partition))
        for partition, mark in applied.items():
            value = mark.model_dump_json().encode()
            waiting.append(await self._table.save(_key_of(partition), value, partition))
        while self._over and self._over[0][0] <= self._clock.now_ms() - OVER_MS:
            over_at, key, partition = self._over.popleft()
            stored = _stored(self._table.read(key) or b"{}")
            is_same = stored is not None and stored.over_at == over_at
            if is_same and key not in changed:
                waiting.append(await self._table.save(key, None, partition))
        await asyncio.gather(*waiting)
        self._over += [
            (stored.over_at, key, changed[key].partition)
            for key, stored in known.items()
            if stored.over_at is not None
        ]


def _key_of(partition: int) -> bytes:
    return str(partition).encode()


def _stored(value: bytes) -> _Stored | None:
    """None where it cannot be read."""
    try:
        return _Stored.model_validate_json(value)
    except ValidationError as error:
        log.error("incident of a group is unreadable", problem=str(error))
        return None
