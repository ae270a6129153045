"""What a source that is asked (not read) says of all its groups at one time."""

from __future__ import annotations

from dataclasses import dataclass, field

from warren_wire.committed_offsets import TopicOffsets


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
