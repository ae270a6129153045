"""What goes into a batch and what comes out of it."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, Protocol

from warren.contracts.event import Headers


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record of a topic that is read."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None

    @property
    def place(self) -> dict[str, Any]:
        """Where it is, for log lines."""
        return {"topic": self.topic, "partition": self.partition, "offset": self.offset}


@dataclass(frozen=True, slots=True)
class Publication:
    """A record to publish; `partition` is that of its `source`. No value is a tombstone."""

    topic: str
    key: bytes | None
    value: bytes | None
    partition: int
    source: SourceRecord | None = field(default=None, compare=False, repr=False)
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Write:
    """A table value to store; None deletes it."""

    key: bytes
    value: bytes | None
    partition: int
    source: SourceRecord | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True)
class Counts:
    """What happened in a batch."""

    events: int = 0
    duplicates: int = 0
    dead_letters: int = 0
    partitions: int = 0
    status_changes: list[str] = field(default_factory=list)  # the new statuses
    discarded_states: int = 0


@dataclass(slots=True)
class BatchResult:
    """First everything in `publications` must be acknowledged, then everything in `writes`."""

    publications: list[Publication] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    gone: list[tuple[bytes, int, int]] = field(default_factory=list)  # key, partition, offset
    counts: Counts = field(default_factory=Counts)


# What the worker keeps by key, and may wait for until it is stored.


class Table(Protocol):
    """Where windows, or members, are kept."""

    def read(self, key: bytes) -> bytes | None: ...

    async def save(self, key: bytes, value: bytes | None, partition: int) -> Awaitable[Any]: ...
