"""The collector's metrics of one cluster."""

from __future__ import annotations

from typing import get_args

import structlog
from warren.clock import Clock
from warren.contracts import ClusterStateName
from warren.metrics import collector as metrics
from warren_wire.records import Malformed, Skipped
from warren_wire.records.key import KINDS

from warren_collector.groups.recorded.records import Findings
from warren_collector.positions.base import Positions
from warren_collector.sources.source import Folded
from warren_collector.sources.source_partitions import SourcePartitions

_MOST_VERSIONS = 99
log = structlog.get_logger(__name__)
EVERY = 2.0  # seconds


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
        self._group_records = metrics.COLLECTOR_GROUP_RECORDS.labels(cluster)
        self._deletions = metrics.COLLECTOR_DELETIONS.labels(cluster)
        self._denied = metrics.COLLECTOR_DENIED.labels(cluster)
        self._groups = metrics.COLLECTOR_GROUPS.labels(cluster)
        self._positions = metrics.COLLECTOR_POSITIONS.labels(cluster)
        self._partitions = metrics.COLLECTOR_PARTITIONS.labels(cluster)
        self._behind = metrics.COLLECTOR_BEHIND.labels(cluster)
        self._backlog = metrics.COLLECTOR_BACKLOG.labels(cluster)
        self.pending = metrics.COLLECTOR_PENDING.labels(cluster)
        self._ready = metrics.COLLECTOR_READY.labels(cluster)

    def folded(self, folded: Folded) -> None:
        self._commits.inc(folded.commits)
        self._deletions.inc(folded.deletions)
        self._denied.inc(folded.denied)
        self._group_records.inc(folded.group_records)
        for (key_version, value_version), count in folded.skipped.items():
            known = str(key_version) if key_version in KINDS else "unknown"
            metrics.COLLECTOR_SKIPPED.labels(self._cluster, known, _label(value_version)).inc(count)
        for _, malformed in folded.rejected:
            metrics.COLLECTOR_MALFORMED.labels(self._cluster, malformed.field).inc()

    def found(self, findings: Findings) -> None:
        """What came out when records about groups were decoded."""
        for rejected in findings.rejected:
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
        self._backlog.set(backlog)
        self._groups.set(len(positions.groups))
        self._positions.set(len(positions))
        self._partitions.set(len(partitions))
        self._behind.set(partitions.behind())
        self._ready.set(is_ready)

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


class Progress:
    """Tells operators of a large cluster that the silence is work."""

    def __init__(self, cluster: str, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._began_at: float | None = None
        self._told_at = 0.0
        self._behind = 0

    def tell(self, behind: int, groups: int, positions: int) -> None:
        """`behind`: offsets still to read; 0 once there is nothing to rebuild."""
        now = self._clock.monotonic()
        if behind == 0:
            if self._began_at is not None:
                log.info(
                    "state rebuilt",
                    cluster=self._cluster,
                    seconds=round(now - self._began_at, 1),
                    groups=groups,
                    positions=positions,
                )
                self._began_at = None
            return
        if self._began_at is None:
            self._began_at = self._told_at = now
            self._behind = behind
            return
        if now - self._told_at < EVERY:
            return
        rate = (self._behind - behind) / (now - self._told_at)
        log.info(
            "rebuilding state",
            cluster=self._cluster,
            records_left=behind,
            records_per_second=round(rate),
            seconds_left=round(behind / rate) if rate > 0 else None,
            groups=groups,
            positions=positions,
        )
        self._told_at, self._behind = now, behind
