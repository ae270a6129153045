"""The state that this notifier owns: that of the subjects in its assigned partitions, in memory.

Everything here can be rebuilt from `warren.notifier-state`; nothing here writes to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import structlog
from warren.contracts import DigestKey, NotifierState
from warren.errors import ContractViolation

from warren_notifier.routing.change import Subject
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import Telling

log = structlog.get_logger(__name__)


class _Partition:
    def __init__(self, committed: int) -> None:
        self.committed = committed
        self.states: dict[Subject, SubjectState] = {}


class OwnedState:
    """Subject states of the assigned partitions."""

    def __init__(self) -> None:
        self._partitions: dict[int, _Partition] = {}
        self._pending: dict[SubjectState, None] = {}
        self._settling: dict[SubjectState, None] = {}
        """Those that may be settled."""
        self._digests: dict[DigestKey, dict[tuple[int, Subject], None]] = {}

    @property
    def partitions(self) -> set[int]:
        return set(self._partitions)

    def assign(
        self, partition: int, stored: Iterable[NotifierState], end: int, committed: int
    ) -> list[SubjectState]:
        """Begins to own a partition, and gives the states of its subjects.

        `end`: the log end of the events; a state that has seen more is of a topic that was deleted
        since, so that offsets have begun anew. `committed`: the group's position.
        """
        self._partitions[partition] = owned = _Partition(committed)
        for record in stored:
            try:
                state = SubjectState.restored(partition, record)
            except ContractViolation as violation:  # of an incompatible version's making
                log.error("state refused", partition=partition, reason=violation.reason)
                continue
            if state.offset >= end:
                state.offset = -1
            owned.states[state.subject] = state
            self.note(state)
            for telling in state.tellings:
                self.note_digest(telling)
        return list(owned.states.values())

    def revoke(self, partition: int) -> None:
        """Owns a partition no longer."""
        self._partitions.pop(partition, None)

    def state(self, partition: int, subject: Subject) -> SubjectState:
        """The subject's state, a new one if need be."""
        states = self._partitions[partition].states
        return states.setdefault(subject, SubjectState(partition, subject))

    def holds(self, delivery: Delivery) -> bool:
        """Whether it is still pending here: its partition may have been revoked since."""
        owned = self._partitions.get(delivery.partition)
        state = owned.states.get(delivery.subject) if owned else None
        return state is not None and state.holds(delivery)

    def owns(self, delivery: Delivery) -> bool:
        """Whether its partition is still ours."""
        return delivery.partition in self._partitions

    def states(self) -> Iterator[SubjectState]:
        """All of them; changes during the iteration do no harm."""
        for owned in list(self._partitions.values()):
            yield from list(owned.states.values())

    def has(self, state: SubjectState) -> bool:
        """Whether it is still ours, and not forgotten."""
        owned = self._partitions.get(state.partition)
        return owned is not None and owned.states.get(state.subject) is state

    def note(self, state: SubjectState) -> None:
        """A decision has changed it: it may be among the pending or settling ones now."""
        (self._pending if state.deliveries else self._settling)[state] = None

    def pending(self, at_once: int) -> Iterator[list[SubjectState]]:
        """States with deliveries, so many at a time; what has none any more is settling from then
        on.
        """
        noted = list(self._pending)
        for at in range(0, len(noted), at_once):
            part = noted[at : at + at_once]
            pending = [state for state in part if state.deliveries and self.has(state)]
            for state in set(part).difference(pending):
                self._pending.pop(state, None)
                self._settling[state] = None
            yield pending

    def settling(self) -> list[SubjectState]:
        """States without anything to remember, which are forgotten as soon as that may be."""
        over = [state for state in self._settling if not (state.empty and self.has(state))]
        for state in over:
            del self._settling[state]
        return list(self._settling)

    def note_digest(self, telling: Telling) -> None:
        """Notes that a telling is in a digest, until it is forgotten."""
        if telling.told.digest is not None:
            together = self._digests.setdefault(telling.told.digest, {})
            together[telling.partition, telling.subject] = None

    def digest(self, channel: str, key: DigestKey) -> list[tuple[SubjectState, Telling]]:
        """What is told together on a channel, with the subject that it is about."""
        found, together = [], self._digests.get(key, {})
        for partition, subject in list(together):
            owned = self._partitions.get(partition)
            state = owned.states.get(subject) if owned is not None else None
            tellings = [t for t in state.tellings if t.told.digest == key] if state else []
            if state is None or not tellings:
                del together[partition, subject]
                continue
            found += [(state, t) for t in tellings if t.told.channel == channel]
        if not together:
            self._digests.pop(key, None)
        return found

    def committed(self, partition: int, offset: int) -> None:
        """Notes the group's position: events below it will not be read again."""
        if partition in self._partitions:
            self._partitions[partition].committed = offset

    def forget_settled(self, state: SubjectState) -> bool:
        """Whether nothing of a state is needed any more; it is then no longer owned.

        An empty state is needed to recognise replays, as long as its event may be read again.
        """
        owned = self._partitions.get(state.partition)
        if owned is None or not state.empty or state.offset >= owned.committed:
            return False
        owned.states.pop(state.subject, None)
        return True
