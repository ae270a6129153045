"""Where a partition stands when it is assigned."""

from __future__ import annotations

from dataclasses import dataclass

from warren_notifier.source.backlog import Backlog


@dataclass(frozen=True, slots=True)
class PartitionStart:
    """The group's committed offset, the log end offset, and the backlog of a first start."""

    committed: int
    end: int
    backlog: Backlog | None = None
