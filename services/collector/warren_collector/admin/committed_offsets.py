"""The committed offsets of groups that were asked for, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CommittedOffsets:
    """One group in one topic: an entry per partition that has a committed offset.

    `committed_at` (Unix ms) is None where the source does not know when.
    """

    partition: Int64s
    offset: Int64s
    committed_at: Int64s | None = None


TopicOffsets = Mapping[str, CommittedOffsets]
"""All committed offsets of a group, by topic."""


def from_commits(commits: Sequence[tuple[int, int, int]]) -> CommittedOffsets:
    """Of (partition, offset, Unix ms)."""
    columns = np.array(commits, np.int64).reshape(-1, 3)
    return CommittedOffsets(columns[:, 0], columns[:, 1], columns[:, 2])
