"""How it stands with one cluster, by what its collectors say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warren.contracts import ClusterEvent
from warren.contracts.cluster_event import EVERY_MS

SILENT_AFTER_MS = 3 * EVERY_MS
# Worst first: one collector that cannot read its part makes the cluster's picture incomplete.
_RANK = ("unreachable", "refused", "failing", "connecting", "rebuilding", "ok")
UNKNOWN = "unknown"
STATES = (*_RANK, UNKNOWN)


@dataclass(frozen=True, slots=True)
class ClusterView:
    """`events` are those of collectors that were heard of lately, worst first."""

    cluster: str
    events: tuple[ClusterEvent, ...]

    @classmethod
    def of(cls, cluster: str, events: Iterable[ClusterEvent], now: int) -> ClusterView:
        heard = [e for e in events if now - e.observed_at <= SILENT_AFTER_MS]
        return cls(cluster, tuple(sorted(heard, key=lambda e: (_RANK.index(e.state), e.collector))))

    @property
    def state(self) -> str:
        """That of the collector with the most trouble; unknown when none is heard of."""
        return self.events[0].state if self.events else UNKNOWN

    @property
    def since(self) -> int | None:
        return self.events[0].since if self.events else None

    @property
    def problem(self) -> str:
        return self.events[0].problem if self.events else ""

    @property
    def log_ends_at(self) -> int | None:
        """The oldest reading of log ends that is in use."""
        return min((e.log_ends_at for e in self.events if e.log_ends_at is not None), default=None)
