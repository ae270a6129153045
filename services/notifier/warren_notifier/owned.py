"""The subjects that this notifier owns, those of its assigned partitions, in memory.

Everything here can be rebuilt from `warren.notifier-state`; nothing here writes to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import structlog
from warren.clock import Clock
from warren.contracts import DigestKey, NotifierState
from warren.errors import ContractViolation

from warren_notifier.routing.change import Subject
from warren_notifier.state.subject_state import SubjectState, restored
from warren_notifier.state.telling import Delivery, Ended, Key, Telling

log = structlog.get_logger(__name__)


class Owned:
    """The place of one subject. `state` changes by `put` alone."""

    def __init__(self, state: SubjectState) -> None:
        self.partition = state.partition
        self.subject = state.subject
        self.state = state
        self.stored_bytes = 0
        """Of its newest record."""
        self.moved = asyncio.Event()
        """Set when anything has changed that work on it waits for."""
        self._noted: dict[Key, _Noted] = {}

    def put(self, state: SubjectState) -> None:
        self.state = state
        if len(self._noted) > len(state.tellings):
            self._noted = {key: one for key, one in self._noted.items() if key in state.tellings}
        self.moved.set()

    def line(self, delivery: Delivery) -> Line:
        """The line of a delivery's channel, for one incident."""
        return Line(self, delivery.key)

    def lines(self) -> list[Line]:
        return [Line(self, key) for key in self.state.tellings]

    def is_sent_at_once(self, delivery: Delivery) -> bool:
        """Whether a first attempt follows as soon as a pending delivery is written, so that it may
        arrive though nothing else is.
        """
        noted, pending = self._noted.get(delivery.key), delivery.pending
        return (
            noted is not None
            and noted.at_once == delivery.number
            and not pending.attempts
            and pending.held is None
            and pending.next_attempt_at <= pending.accepted_at
        )

    def noted(self, key: Key) -> _Noted:
        noted = self._noted.get(key)
        if noted is None:
            noted = self._noted[key] = _Noted()
        return noted


@dataclass(slots=True, eq=False)
class _Noted:
    """Of a line, what is not stored: numbers of deliveries, and when an attempt is due."""

    written: int | None = None
    at_once: int | None = None
    """A free slot awaits it."""
    due: tuple[int, float] = (0, 0.0)
    """By the wall clock, and by the monotonic one."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one channel is told of one incident, as it is whenever one asks."""

    owned: Owned
    key: Key

    @property
    def telling(self) -> Telling | None:
        return self.owned.state.tellings.get(self.key)

    @property
    def delivery(self) -> Delivery | None:
        telling = self.owned.state.tellings.get(self.key)
        return telling.delivery if telling is not None else None

    @property
    def digest(self) -> DigestKey | None:
        """With whom it is told; None: alone."""
        return self.telling.notified.digest if self.telling is not None else None

    @property
    def is_written(self) -> bool:
        """Whether the delivery is written down: nothing is sent before."""
        delivery = self.delivery
        return delivery is not None and self.owned.noted(self.key).written == delivery.number

    def note_written(self, delivery: Delivery) -> None:
        self.owned.noted(self.key).written = delivery.number
        self.owned.moved.set()

    def foresee(self, delivery: Delivery, *, at_once: bool) -> None:
        """Notes whether a free slot awaits a delivery."""
        self.owned.noted(self.key).at_once = delivery.number if at_once else None

    @property
    def can_be_sent(self) -> bool:
        telling = self.telling
        if telling is None or telling.is_held or not self.is_written:
            return False
        return telling.needless() is None

    def wait(self, clock: Clock) -> float:
        """Seconds until the next attempt, from when it was first asked on by both clocks: a wall
        clock that is set back makes nobody wait for longer.
        """
        delivery = self.delivery
        if delivery is None:
            return 0
        at = delivery.pending.next_attempt_at
        by_wall = (at - clock.now_ms()) / 1000
        now = clock.monotonic()
        noted = self.owned.noted(self.key)
        if noted.due[0] != at:
            noted.due = at, now + by_wall
        return min(by_wall, noted.due[1] - now)


@dataclass(slots=True)
class _Partition:
    committed: int
    subjects: dict[Subject, Owned] = field(default_factory=dict)


class OwnedSubjects:
    """Of the assigned partitions."""

    def __init__(self) -> None:
        self._partitions: dict[int, _Partition] = {}
        self._pending: dict[Owned, None] = {}
        self._settling: dict[Owned, None] = {}
        """Those that may be settled."""
        self._digests: dict[DigestKey, dict[Owned, None]] = {}

    @property
    def partitions(self) -> set[int]:
        return set(self._partitions)

    def assign(
        self, partition: int, stored: Iterable[NotifierState], end: int, committed: int
    ) -> list[tuple[Owned, list[Ended]]]:
        """Begins to own a partition, and gives its subjects with deliveries that ended by that.

        `end`: the log end of the events; a state that has seen more is of a topic that was deleted
        since, so that offsets have begun anew. `committed`: the group's position.
        """
        self._partitions[partition] = assigned = _Partition(committed)
        found = []
        for record in stored:
            record = record if record.offset < end else record.model_copy(update={"offset": -1})
            try:
                state, ended = restored(partition, record)
            except ContractViolation as violation:  # of an incompatible version's making
                log.error("state refused", partition=partition, reason=violation.reason)
                continue
            owned = assigned.subjects[state.subject] = Owned(state)
            owned.stored_bytes = len(record.to_bytes())
            found.append((owned, ended))
            self.note(owned)
            for line in owned.lines():
                self.note_digest(line)
        return found

    def revoke(self, partition: int) -> None:
        """Owns a partition no longer."""
        self._partitions.pop(partition, None)

    def of(self, partition: int, subject: Subject) -> Owned:
        """A subject, a new one if need be."""
        subjects = self._partitions[partition].subjects
        if subject not in subjects:
            subjects[subject] = Owned(SubjectState(partition, subject))
        return subjects[subject]

    def has(self, owned: Owned) -> bool:
        """Whether it is still ours, and not forgotten."""
        assigned = self._partitions.get(owned.partition)
        return assigned is not None and assigned.subjects.get(owned.subject) is owned

    def owns(self, delivery: Delivery) -> bool:
        """Whether its partition is still ours."""
        return delivery.partition in self._partitions

    def holding(self, delivery: Delivery) -> Line | None:
        """Where a delivery is still pending; None: it is no more, or not here."""
        assigned = self._partitions.get(delivery.partition)
        owned = assigned.subjects.get(delivery.subject) if assigned is not None else None
        is_held = owned is not None and owned.state.holds(delivery)
        return owned.line(delivery) if owned is not None and is_held else None

    def is_open(self, cluster: str, group: str) -> bool:
        """Whether people are told, or were, of an incident of the group that is not over."""
        subject = Subject(cluster, group)
        known = (one.subjects.get(subject) for one in list(self._partitions.values()))
        return any(owned is not None and owned.state.change is not None for owned in known)

    def all(self) -> Iterator[Owned]:
        """Changes during the iteration do no harm."""
        for assigned in list(self._partitions.values()):
            yield from list(assigned.subjects.values())

    def note(self, owned: Owned) -> None:
        """A decision has changed it: it may be among the pending or settling ones now."""
        (self._pending if owned.state.deliveries else self._settling)[owned] = None

    def pending(self) -> list[Owned]:
        """Those with deliveries; what has none any more is settling from then on."""
        over = [one for one in self._pending if not one.state.deliveries or not self.has(one)]
        for owned in over:
            del self._pending[owned]
            self._settling[owned] = None
        return list(self._pending)

    def settling(self) -> list[Owned]:
        """Those without anything to remember, which are forgotten as soon as that may be."""
        over = [one for one in self._settling if not (one.state.empty and self.has(one))]
        for owned in over:
            del self._settling[owned]
        return list(self._settling)

    def note_digest(self, line: Line) -> None:
        """Notes that a line is in a digest, until it is forgotten."""
        if line.digest is not None:
            self._digests.setdefault(line.digest, {})[line.owned] = None

    def digest(self, channel: str, key: DigestKey) -> list[Line]:
        """What is told together on a channel."""
        found, together = [], self._digests.get(key, {})
        for owned in list(together):
            lines = [line for line in owned.lines() if line.digest == key]
            if not lines or not self.has(owned):
                del together[owned]
                continue
            found += [line for line in lines if line.key[1] == channel]
        if not together:
            self._digests.pop(key, None)
        return found

    def committed(self, partition: int, offset: int) -> None:
        """Notes the group's position: events below it will not be read again."""
        if partition in self._partitions:
            self._partitions[partition].committed = offset

    def forget_settled(self, owned: Owned) -> bool:
        """Whether nothing of a subject is needed any more; it is then no longer owned.

        An empty one is needed to recognise replays, as long as its event may be read again.
        """
        assigned = self._partitions.get(owned.partition)
        state = owned.state
        if assigned is None or not state.empty or state.offset >= assigned.committed:
            return False
        assigned.subjects.pop(owned.subject, None)
        return True
