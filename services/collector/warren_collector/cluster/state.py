"""How it stands with one cluster: kept by its stack, read by whoever reports it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warren.clock import Clock
from warren.contracts import ClusterEvent, ClusterStateName
from warren.errors import (
    AuthenticationFailed,
    AuthorizationFailed,
    ClientLost,
    ClusterUnreachable,
    KafkaError,
)


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts that go with a state; what they mean says ClusterEvent."""

    groups: int = 0
    positions: int = 0
    source_partitions: int = 0
    backlog: int = 0
    published_at: int | None = None
    log_ends_at: int | None = None
    refused_topics: tuple[str, ...] = ()


_BEGINNING: frozenset[ClusterStateName] = frozenset(("connecting", "rebuilding"))


@dataclass(frozen=True, slots=True)
class _Snapshot:
    state: ClusterStateName
    since: int
    problem: str = ""
    figures: Figures = Figures()
    obstacle: str = ""
    """Why nothing of the cluster is collected and published; empty: something is. Who only begins
    anew is not past it yet.
    """


class ClusterState:
    """Written by one thread, read by others: snapshots are replaced whole."""

    def __init__(self, cluster: str, clock: Clock) -> None:
        self.cluster = cluster
        self._clock = clock
        self.now = _Snapshot("connecting", clock.now_ms())
        """Replaced whole."""

    def note(self, state: ClusterStateName, figures: Figures | None = None) -> None:
        """All is as it should be in this state."""
        self._enter(state, "", figures)

    def trouble(
        self, error: KafkaError, figures: Figures | None = None, *, goes_on: bool = False
    ) -> None:
        """The cluster, or Warren's own, did not do what was asked; `goes_on`: the rest is done."""
        state = "partial" if goes_on else _state_of(self.cluster, error)
        self._enter(state, str(error), figures, goes_on=goes_on)

    def fault(self, fault: Exception) -> None:
        """Something that nobody has thought of: its kind; what it says is for the log."""
        problem = f"cluster {self.cluster}: {type(fault).__name__}, a fault of Warren (see its log)"
        self._enter("failing", problem, None, goes_on=False)

    def event(self, collector: str, sources: Sequence[str]) -> ClusterEvent:
        now = self.now
        return ClusterEvent(
            cluster=self.cluster,
            collector=collector,
            observed_at=self._clock.now_ms(),
            state=now.state,
            since=now.since,
            problem=now.problem,
            sources=list(sources),
            groups=now.figures.groups,
            positions=now.figures.positions,
            source_partitions=now.figures.source_partitions,
            backlog=now.figures.backlog,
            published_at=now.figures.published_at,
            log_ends_at=now.figures.log_ends_at,
            refused_topics=list(now.figures.refused_topics),
        )

    def _enter(
        self,
        state: ClusterStateName,
        problem: str,
        figures: Figures | None,
        *,
        goes_on: bool = True,
    ) -> None:
        before = self.now
        obstacle = before.obstacle if state in _BEGINNING else ""
        since = before.since if state == before.state else self._clock.now_ms()
        self.now = replace(
            before,
            state=state,
            since=since,
            problem=problem,
            figures=figures or before.figures,
            obstacle=obstacle if goes_on else problem,
        )


def _state_of(cluster: str, error: KafkaError) -> ClusterStateName:
    """Trouble with another cluster, that is Warren's own, is no verdict on this one."""
    if error.cluster != cluster or isinstance(error, ClientLost):
        return "failing"
    if isinstance(error, AuthenticationFailed | AuthorizationFailed):
        return "refused"
    return "unreachable" if isinstance(error, ClusterUnreachable) else "failing"
