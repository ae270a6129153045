"""The collector's metrics of one cluster."""

from typing import get_args

from warren.contracts import ClusterStateName
from warren.metrics import collector as metrics
from warren_wire.records import KINDS, Malformed, Skipped

from warren_collector.groups.recorded.records import Rejected
from warren_collector.positions.base import Positions
from warren_collector.sources.source import Folded, SourcePartitions

_MOST_VERSIONS = 99


class Meters:
    """Counts what happens in one cluster's stack."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self.events = metrics.COLLECTOR_EVENTS.labels(cluster)
        self.log_ends_age = metrics.COLLECTOR_LOG_ENDS_AGE.labels(cluster)
        self.dead_letters = metrics.COLLECTOR_DEAD_LETTERS.labels(cluster)
        self.tick_seconds = metrics.COLLECTOR_TICK_SECONDS.labels(cluster)
        self.unknown_ends = metrics.COLLECTOR_UNKNOWN_ENDS.labels(cluster)
        self.published_at = metrics.COLLECTOR_PUBLISHED_AT.labels(cluster)
        self.foreign_members = metrics.COLLECTOR_FOREIGN_MEMBERS.labels(cluster)
        self.restarts = metrics.COLLECTOR_RESTARTS.labels(cluster)
        self.faults = metrics.COLLECTOR_FAULTS.labels(cluster)
        self.lost_clients = metrics.COLLECTOR_LOST_CLIENTS.labels(cluster)
        self._commits = metrics.COLLECTOR_COMMITS.labels(cluster)
        self.pending = metrics.COLLECTOR_PENDING.labels(cluster)

    def folded(self, folded: Folded) -> None:
        self._commits.inc(folded.commits)
        for (key_version, value_version), count in folded.skipped.items():
            known = str(key_version) if key_version in KINDS else "unknown"
            metrics.COLLECTOR_SKIPPED.labels(self._cluster, known, _label(value_version)).inc(count)
        for _, malformed in folded.rejected:
            metrics.COLLECTOR_MALFORMED.labels(self._cluster, malformed.field).inc()

    def found(self, found: list[Rejected]) -> None:
        """What came out when records about groups were decoded."""
        for rejected in found:
            match rejected.problem:
                case Malformed() as malformed:
                    metrics.COLLECTOR_MALFORMED.labels(self._cluster, malformed.field).inc()
                case Skipped() as skipped:
                    labels = str(skipped.key_version), _label(skipped.value_version)
                    metrics.COLLECTOR_SKIPPED.labels(self._cluster, *labels).inc()

    def state(
        self,
        positions: Positions,
        partitions: SourcePartitions,
        backlog: int,
        is_ready: bool,
    ) -> None:
        metrics.COLLECTOR_BACKLOG.labels(self._cluster).set(backlog)
        metrics.COLLECTOR_GROUPS.labels(self._cluster).set(len(positions.groups))
        metrics.COLLECTOR_POSITIONS.labels(self._cluster).set(len(positions))
        metrics.COLLECTOR_PARTITIONS.labels(self._cluster).set(len(partitions))
        metrics.COLLECTOR_BEHIND.labels(self._cluster).set(partitions.behind())
        metrics.COLLECTOR_READY.labels(self._cluster).set(is_ready)

    def source_failed(self, source: str) -> None:
        metrics.COLLECTOR_SOURCE_FAILURES.labels(self._cluster, source).inc()

    def cluster_state(self, current: ClusterStateName) -> None:
        for state in get_args(ClusterStateName):
            metrics.COLLECTOR_CLUSTER_STATE.labels(self._cluster, state).set(state == current)

    def failed_tick(self, step: str) -> None:
        metrics.COLLECTOR_FAILED_TICKS.labels(self._cluster, step).inc()


def _label(value_version: int | None) -> str:
    """Bounded, whatever the bytes are; empty where a value's version was not looked at."""
    if value_version is None:
        return ""
    return str(value_version) if 0 <= value_version <= _MOST_VERSIONS else "other"
