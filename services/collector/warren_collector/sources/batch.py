"""Records of the offsets topic as columns: what a source hands to `RecordedPositions.fold`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warren_collector.records import Malformed


def _unknown_time(_index: int) -> int:
    return -1


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
    time: Callable[[int], int] = _unknown_time
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
    deletions: int = 0
    denied: int = 0
    group_records: int = 0
    """Records about groups."""
    skipped: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    """Records of unknown kinds and versions, by (key version, value version)."""
    unknown_tags: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Tagged fields that were read over, by (key version, value version)."""
    rejected: list[tuple[int, Malformed]] = field(default_factory=list)
    """Index in the batch and what is wrong with the record."""
