"""Who was told what and when, and what waits to be told, in memory.

Fed by one thread, read by many.
"""

import threading
from collections import deque
from collections.abc import Collection, Iterable
from typing import NamedTuple

from warren.contracts import NotificationEvent, NotifierState, PendingDelivery


class Attempt(NamedTuple):
    """A record of `warren.notifications` and where it is."""

    partition: int
    offset: int
    event: NotificationEvent


class Waiting(NamedTuple):
    """A delivery that has not come to its end."""

    cluster: str
    group: str
    pending: PendingDelivery


class Notifications:
    """The newest `limit` attempts, and all that waits."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._attempts: deque[Attempt] = deque(maxlen=limit)
        self._waiting: dict[bytes, tuple[Waiting, ...]] = {}

    def take(self, partition: int, offset: int, value: bytes | None, key: bytes | None) -> None:
        """Adds a record of `warren.notifications`. Raises ContractViolation when it is none."""
        attempt = Attempt(partition, offset, NotificationEvent.from_record(key, value))
        with self._lock:
            self._attempts.append(attempt)

    def apply_state(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.notifier-state`; a tombstone: nothing waits.

        Raises ContractViolation, and forgets what waited, when it is no state.
        """
        with self._lock:
            self._waiting.pop(key or b"", None)
        if value is None:
            return
        state = NotifierState.from_bytes(value)
        waiting = tuple(Waiting(state.cluster, state.group, one) for one in state.deliveries)
        if waiting:
            with self._lock:
                self._waiting[key or b""] = waiting

    def begin_again(self) -> None:
        """The topics are read once more."""
        with self._lock:
            self._attempts.clear()
            self._waiting.clear()

    def attempts(self) -> tuple[Attempt, ...]:
        """In the order in which they were read."""
        with self._lock:
            return tuple(self._attempts)

    def waiting(self) -> list[Waiting]:
        """The oldest first."""
        with self._lock:
            found = [one for several in self._waiting.values() for one in several]
        return sorted(found, key=lambda one: (one.pending.accepted_at, one.pending.delivery_id))

    def of_incidents(self, ids: Collection[str]) -> list[Attempt]:
        """The newest first."""
        found = [a for a in self.attempts() if a.event.incident_id in ids]
        return newest_first(found)

    def of_group(self, cluster: str, group: str) -> list[Attempt]:
        """The newest first."""
        name = cluster, group
        return newest_first(a for a in self.attempts() if (a.event.cluster, a.event.group) == name)


def newest_first(attempts: Iterable[Attempt]) -> list[Attempt]:
    return sorted(attempts, key=lambda a: (-a.event.at, a.partition, -a.offset))
