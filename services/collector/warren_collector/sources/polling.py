"""Asking a source again and again in a thread of its own: a slow answer holds nobody up."""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from warren.clock import Clock
from warren.kafka.connection import Refusals
from warren.settings import KafkaConnection
from warren_wire.brokers import Brokers
from warren_wire.committed_offsets import TopicOffsets
from warren_wire.metadata import GROUP_NOT_AUTHORISED

from warren_collector.admin.group_admin import (
    GroupAdmin,
    Refusal,
)
from warren_collector.sources.source import Snapshot

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

Owns = Callable[[str], bool]
"""Whether a group is to be read: watched, and in a shard of this collector's."""


# A coordinator that moves may not list its groups for a moment: one absence proves nothing.
GONE_AFTER = 2


class Reader(Protocol[Result_co]):
    """Somebody who is asked. Used by one thread at a time."""

    def read(self, shards: frozenset[int], owns: Owns) -> Result_co:
        """What is said of all groups that are owned. Raises KafkaError."""

    def close(self) -> None: ...


class Polling(Generic[Result]):
    """Results every `interval` seconds, and at once when the shards have changed."""

    def __init__(
        self,
        name: str,
        reader: Reader[Result],
        accepts: Callable[[str], bool],
        shard_of: Callable[[str], int],
        interval: float,
    ) -> None:
        self._reader = reader
        self._accepts = accepts
        self._shard_of = shard_of
        self._interval = interval
        self._shards: frozenset[int] = frozenset()
        self._wake = threading.Condition()
        self._is_changed = False
        self._is_closed = False
        self._changed = threading.Condition()
        self._result: Result | Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def own(self, shards: frozenset[int]) -> None:
        """Which shards to read from now on; none at first."""
        with self._wake:
            if shards != self._shards:
                self._shards = shards
                self._is_changed = True
                self._wake.notify()

    def take(self, timeout: float) -> Result | None:
        """The newest result, or the first that is there within `timeout` seconds.

        Raises what reading raised: KafkaError, which does not end the polling, or a fault.
        """
        with self._changed:
            if self._result is None and timeout > 0:
                self._changed.wait(timeout)
            result, self._result = self._result, None
        if isinstance(result, Exception):
            raise result
        return result

    def close(self) -> None:
        """Returns once the reader is closed: a request under way is waited for."""
        with self._wake:
            self._is_closed = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._await_turn():
                self._read()
        finally:
            self._reader.close()

    def _await_turn(self) -> bool:
        """False when closed."""
        with self._wake:
            if not self._is_changed and not self._is_closed:
                self._wake.wait(self._interval)
            while not self._shards and not self._is_closed:
                self._wake.wait()
            self._is_changed = False
            return not self._is_closed

    def _read(self) -> None:
        shards = self._shards
        result: Result | Exception
        try:
            result = self._reader.read(
                shards, lambda group: self._shard_of(group) in shards and self._accepts(group)
            )
        except Exception as error:  # noqa: BLE001  # raised again by `take`, in the stack's thread
            result = error
        with self._changed:
            self._result = result
            self._changed.notify()


class AdminApiReader:
    """For one thread: its event loop runs only within `read` and `close`."""

    def __init__(
        self, cluster: str, setting: str, connection: KafkaConnection, clock: Clock
    ) -> None:
        self._brokers = Brokers(cluster, setting, connection)
        self._admin = GroupAdmin(self._brokers)
        self._clock = clock
        self._refusals = Refusals(cluster, setting, "DESCRIBE", "group", "their lag is unknown")
        self._runner = asyncio.Runner()

    def read(self, shards: frozenset[int], owns: Owns) -> Snapshot:
        """Raises ClusterUnreachable when no broker answers, AuthenticationFailed."""
        return self._runner.run(self._read(shards, owns))

    def close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()

    async def _read(self, shards: frozenset[int], owns: Owns) -> Snapshot:
        listing = await self._admin.list()
        # Share groups have no committed offsets.
        requested = [
            group
            for group in listing.groups.values()
            if (group.type != "share" and owns(group.name))
        ]
        answers = await self._admin.committed(requested)
        read: dict[str, TopicOffsets] = {}
        refused: set[str] = set()
        for group, answer in answers.items():
            if not isinstance(answer, Refusal):
                read[group] = answer
            elif answer.error == GROUP_NOT_AUTHORISED:
                refused.add(group)
        self._refusals.observe(refused)
        return Snapshot(
            read_at=self._clock.now_ms(),
            shards=shards,
            groups=read,
            unread=frozenset(listing.groups.keys() - read.keys()),
            is_complete=listing.is_complete,
        )
