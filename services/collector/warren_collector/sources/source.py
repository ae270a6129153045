"""What a source is to the stack: a stream of batches, and partitions that are this collector's."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from warren.errors import KafkaError
from warren_wire.committed_offsets import TopicOffsets
from warren_wire.records import Malformed

from warren_collector.sources.source_partitions import SourcePartitions


@dataclass(frozen=True, slots=True)
class Batch:
    """Records in the order of the log (within each partition); one entry per record.

    `counted` says which ones are commits to publish: the others, older than what the collectors
    have published already, only rebuild state. None: all are counted. Of those others, `first` are
    older than any collector; None: there are none.
    """

    keys: list[bytes | None]
    values: list[bytes | None]
    partitions: NDArray[np.int32]
    offsets: NDArray[np.int64]
    counted: NDArray[np.bool_] | None = None
    first: NDArray[np.bool_] | None = None
    time: Callable[[int], int] = lambda _index: -1
    """When the record of an index was written, Unix ms; -1 unknown."""

    def __len__(self) -> int:
        return len(self.keys)

    def is_counted(self, index: int) -> bool:
        return self.counted is None or bool(self.counted[index])

    def tombstones(self) -> list[int]:
        """Indexes of the records without a value."""
        try:
            # The quickest way through: len(None) raises.
            np.fromiter(map(len, self.values), np.int64, len(self.values))  # type: ignore[arg-type]
        except TypeError:
            return [index for index, value in enumerate(self.values) if value is None]
        return []


@dataclass(slots=True)
class Folded:
    """What became of a batch."""

    commits: int = 0
    skipped: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    """Records of unknown kinds and versions, by (key version, value version)."""
    rejected: list[tuple[int, Malformed]] = field(default_factory=list)
    """Index in the batch and what is wrong with the record."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All groups that a source knows at one time, of some shards.

    `unread` are groups that are there although their offsets could not be read. A group in neither
    is gone, but only if the snapshot `is_complete`.
    """

    read_at: int
    """Unix milliseconds."""
    shards: frozenset[int]
    groups: dict[str, TopicOffsets] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    is_complete: bool = True


class Source(Protocol):
    """OffsetsTopicSource, or several sources together (SourceSet)."""

    @property
    def partitions(self) -> SourcePartitions:
        """Those owned, and how far each was read."""

    @property
    def is_ready(self) -> bool:
        """All that was there at the start is known."""

    @property
    def problem(self) -> KafkaError | None:
        """What keeps one of several sources from telling anything, while the others go on."""

    @property
    def obstacle(self) -> KafkaError | None:
        """What keeps all of them from telling anything, as far as `poll` does not raise it."""

    @property
    def pending(self) -> int:
        """Records that wait for the end of their transactions."""

    def poll(self, timeout: float) -> Batch:
        """What has arrived within `timeout` seconds. Raises KafkaError."""

    def store(self) -> None:
        """All that was polled is on the bus."""

    def backlog(self) -> int:
        """Records of the owned partitions that are not read yet, as last heard."""

    def reread(self) -> None:
        """Other groups are wanted now: tells what is there once more. Raises KafkaError."""
