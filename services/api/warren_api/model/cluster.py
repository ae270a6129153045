"""How it stands with one cluster, by what its collectors say, and with reading our own topics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warren.contracts import ClusterEvent
from warren.contracts.cluster_event import EVERY_MS
from warren.words import counted, duration, visible


@dataclass(frozen=True, slots=True)
class FeedState:
    """`ready`: the ends seen at start were passed once. `problem`: None while the feed works.
    `standstill`: why the service is not ready though it once was: reading does not go on.
    """

    ready: bool
    problem: str | None
    standstill: str | None = None


def when(at: int, now: int) -> str:
    """`5m ago`, of what may be to come as well. Unix milliseconds."""
    apart = duration(abs(now - at))
    return f"{apart} ago" if at <= now else f"by a clock that is {apart} ahead"


SILENT_AFTER_MS = 3 * EVERY_MS
# Worst first: one collector that cannot read its part makes the cluster's picture incomplete.
_RANK = ("unreachable", "refused", "failing", "partial", "connecting", "rebuilding", "ok")
UNKNOWN = "unknown"
STATES = (*_RANK, UNKNOWN)
# In which what is known of its groups does not move on.
TROUBLE = ("unreachable", "refused", "failing")


@dataclass(frozen=True, slots=True)
class ClusterView:
    """`events` are those of collectors that were heard of lately, worst first; `heard_at`: when one
    was, the nearest to now, however long ago (Unix milliseconds).
    """

    cluster: str
    events: tuple[ClusterEvent, ...]
    heard_at: int | None = None

    @classmethod
    def of(cls, cluster: str, events: Iterable[ClusterEvent], now: int) -> ClusterView:
        known = list(events)
        heard = [e for e in known if abs(now - e.observed_at) <= SILENT_AFTER_MS]
        return cls(
            cluster,
            tuple(sorted(heard, key=lambda e: (_RANK.index(e.state), e.collector))),
            min((e.observed_at for e in known), key=lambda at: abs(now - at), default=None),
        )

    @property
    def state(self) -> str:
        """That of the collector with the most trouble; unknown when none is heard of."""
        return self.events[0].state if self.events else UNKNOWN

    @property
    def rank(self) -> tuple[int, str]:
        """Sorts clusters, worst first; of one that is unknown nobody says that it is well."""
        order = (*TROUBLE, UNKNOWN, *_RANK[len(TROUBLE) :])
        return order.index(self.state), self.cluster

    @property
    def since(self) -> int | None:
        return self.events[0].since if self.events else None

    @property
    def away_since(self) -> int | None:
        """Since when no collector gets on with the cluster; None while one does, or none is heard
        of.
        """
        if not self.events or any(e.state not in TROUBLE for e in self.events):
            return None
        return max(e.since for e in self.events)

    @property
    def problem(self) -> str:
        return self.events[0].problem if self.events else ""

    @property
    def refusal(self) -> str:
        """Of which topics nothing is known for want of which right; empty where all may be read."""
        refused = sorted({topic for event in self.events for topic in event.refused_topics})
        if not refused:
            return ""
        more = f" and {counted(len(refused) - 1, 'more topic')}" if len(refused) > 1 else ""
        return (
            f"not authorised: DESCRIBE on topic {visible(refused[0])}{more}; "
            "where the log ends is unknown, and so is who is behind on it"
        )

    @property
    def log_ends_at(self) -> int | None:
        """The oldest reading of log ends that is in use."""
        return min((e.log_ends_at for e in self.events if e.log_ends_at is not None), default=None)
