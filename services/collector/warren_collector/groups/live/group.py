"""A group as its coordinator (or ZooKeeper) describes it at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warren.contracts import GroupMember

from warren_collector.admin.group_admin import GroupType


@dataclass(frozen=True, slots=True)
class LiveGroup:
    """`members` is None where nobody says who they are: a right is missing, or nothing can be asked
    about groups of this protocol. `generation` -1 and `state` empty: not told.
    """

    name: str
    protocol: GroupType
    protocol_type: str = ""
    state: str = ""
    generation: int = -1
    assignor: str = ""
    coordinator: int | None = None
    members: tuple[GroupMember, ...] | None = None
    rebalances: int = 0
    """Seen since this collector asks, at least: what happened between two looks is one."""
    last_rebalance_at: int | None = None
    """Unix ms of the look that showed it."""


@dataclass(frozen=True, slots=True)
class LiveState:
    """All groups of some shards; `partitions` are the counts of the topics that they subscribe."""

    shards: frozenset[int] = frozenset()
    groups: Mapping[str, LiveGroup] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
