"""One consumer group as it was last judged, with what readers ask for worked out once."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from warren.contracts import (
    Breach,
    EventTypeName,
    GroupStatusName,
    LagEvent,
    OpenTransaction,
    PartitionStatusName,
    Status,
    TimeToLossReason,
)
from warren_core.judgement.counted import topics_not_counted
from warren_core.standing.figures import is_lag_least, loses_in

from warren_api.model.freshness import GroupFreshness
from warren_api.model.membership import Membership
from warren_api.model.partitions import (
    SEVERITY,
    PartitionRow,
    ShownPartitionStatusName,
    badness_of,
    burrow_lags,
    foremost,
    lost,
    rows_of,
    shown_statuses,
)

ShownStatusName = Literal["NOTFOUND", "OK", "WARN", "ERR", "UNKNOWN"]


class Verdict(NamedTuple):
    """`reason` and `explanation` say why the status is not OK, `since` when it began (Unix
    milliseconds; None when no event told it).
    """

    status: ShownStatusName
    last_status: GroupStatusName
    reason: str | None
    explanation: str | None
    since: int | None

    @property
    def is_known(self) -> bool:
        return self.status != "UNKNOWN"


DataLoss = Literal["now", "soon"] | None
"""Whether records are lost, or will be within the hour."""
Rank = tuple[int, int, int, int, str, str]
NEVER = 1 << 52  # Unix milliseconds; a number of JSON holds it


class StatusSince(NamedTuple):
    """The newest status-change event of a group; `at` in Unix milliseconds."""

    status: GroupStatusName
    at: int


class BrokenObjective(NamedTuple):
    """A limit that the group does not keep, as its open incident has told at `told_at` (Unix
    milliseconds).
    """

    incident_id: str
    breach: Breach
    told_at: int
    type: EventTypeName


@dataclass(frozen=True)
class GroupView:
    """A group's newest evaluation. Immutable: the next evaluation makes a new view."""

    event: LagEvent
    changed: StatusSince | None = None
    freshness: GroupFreshness | None = None
    """Of the topics that count."""
    membership: Membership | None = None
    broken: tuple[BrokenObjective, ...] = ()
    """Worst first."""
    measured: GroupFreshness | None = None
    """Of all topics."""

    @property
    def cluster(self) -> str:
        return self.event.cluster

    @property
    def group(self) -> str:
        return self.event.group

    @cached_property
    def partitions(self) -> tuple[PartitionRow, ...]:
        """All partitions by topic and number."""
        rows = map(self._owned, rows_of(self.event, self.measured or self.freshness))
        return tuple(sorted(rows, key=lambda row: (row.topic, row.partition)))

    @property
    def partition_count(self) -> int:
        return sum(len(topic.partition) for topic in self.event.topics.values())

    @cached_property
    def partition_counts(self) -> dict[ShownPartitionStatusName, int]:
        """How many partitions have which status, worst first; statuses without any are left out."""
        topics = self.event.topics.values()
        counts = Counter(name for columns in topics for name in shown_statuses(columns))
        return dict(sorted(counts.items(), key=lambda item: -SEVERITY[item[0]]))

    @property
    def total_lag(self) -> int | None:
        """Records that can be read; None where that of some partition is unknown, or a bound."""
        return None if self._is_lag_bound else self.event.total_lag

    @property
    def total_lag_at_least(self) -> int | None:
        """What it is at least where it is not known; else None."""
        return self.event.total_lag if self._is_lag_bound else None

    @cached_property
    def _is_lag_bound(self) -> bool:
        return is_lag_least(self.event)

    @property
    def least_lag(self) -> int | None:
        """What is left, at least; None where nothing is known of it."""
        return self.event.total_lag or self.total_lag

    @cached_property
    def worst(self) -> PartitionRow | None:
        """The partition to look at first: the most severe status, then the largest lag."""
        found = foremost(self.event, badness_of)
        return self._owned(found) if found else None

    @cached_property
    def max_lag(self) -> PartitionRow | None:
        """The partition with the largest lag; the first of equals, as in Burrow."""
        found = foremost(self.event, lambda columns: [lag or 0 for lag in columns.lag])
        return self._owned(found) if found else None

    @cached_property
    def lag_of_all(self) -> int | None:
        """The same, also of topics that `total_lag` leaves out."""
        if self.least_lag is None:
            return None
        left_out = topics_not_counted(self.event)
        unsaid = (self.event.topics[topic].lag for topic in left_out)
        return self.least_lag + sum(lag or 0 for lags in unsaid for lag in lags)

    @cached_property
    def burrow_max_lag(self) -> PartitionRow | None:
        """The same by lags as Burrow has them."""
        found = foremost(self.event, burrow_lags)
        return self._owned(found) if found else None

    @cached_property
    def burrow_total_lag(self) -> int:
        """The sum of the lags as Burrow has them, also of topics that `total_lag` leaves out."""
        return sum(sum(burrow_lags(columns)) for columns in self.event.topics.values())

    def _owned(self, row: PartitionRow) -> PartitionRow:
        """The row with the member that owns the partition, if any is known to."""
        if self.membership is None:
            return row
        return row._replace(owner=self.membership.owners.get((row.topic, row.partition)))

    @cached_property
    def since(self) -> int | None:
        """Unix milliseconds of the change to the present status; None when no event told it."""
        opened_at = self.event.incident.opened_at if self.event.incident else None
        changed_at = (
            self.changed.at if self.changed and self.changed.status == self.event.status else None
        )
        return max((at for at in (opened_at, changed_at) if at is not None), default=None)

    @cached_property
    def judged(self) -> Verdict:
        """As last judged, while that is to be believed."""
        event = self.event
        status: ShownStatusName = event.status if event.is_known else "UNKNOWN"
        since = self.since if event.is_known else None
        return Verdict(status, event.status, event.reason, event.explanation, since)

    @property
    def worst_broken(self) -> GroupStatusName:
        """How bad the worst is of the objectives that it does not keep."""
        return self.broken[0].breach.status if self.broken else "OK"

    @property
    def severity(self) -> GroupStatusName:
        """The worst of its status and of the objectives that it does not keep."""
        return max(self.event.status, self.worst_broken, key=SEVERITY.__getitem__)

    def shown(self, verdict: Verdict) -> ShownStatusName:
        """What people see: the severity, while the verdict is to be believed."""
        return self.severity if verdict.is_known else verdict.status

    @cached_property
    def needs_somebody(self) -> bool:
        """Somebody has to do something, if it is as it was last judged."""
        return self.is_losing or self.severity == "ERR"

    @cached_property
    def lost_records(self) -> int:
        """Offsets deleted before they were consumed, as measured; else by what was judged."""
        if self.freshness:
            return self.freshness.event.lost_records
        return sum(
            lost(committed, log_start)
            for topic in self.event.topics.values()
            for committed, log_start in zip(topic.committed, topic.log_start, strict=True)
        )

    @property
    def time_to_loss_ms(self) -> int | None:
        return self.freshness.event.time_to_loss_ms if self.freshness else None

    @property
    def open_transactions(self) -> list[OpenTransaction]:
        """What it waits for if it reads committed records, oldest first."""
        return self.freshness.event.open_transactions if self.freshness else []

    @property
    def catch_up_ms(self) -> int | None:
        """Until nothing is left to consume, at the rates of the last measurement."""
        return self.freshness.event.time_to_catch_up_ms if self.freshness else None

    @property
    def time_to_loss_reason(self) -> TimeToLossReason | None:
        """Why some partition's is not known."""
        return self.freshness.event.time_to_loss_reason if self.freshness else None

    @cached_property
    def is_losing(self) -> bool:
        """Records are lost, or are about to be."""
        return self.data_loss is not None

    @property
    def data_loss(self) -> DataLoss:
        if self.lost_records:
            return "now"
        return None if self.loses_in_ms is None else "soon"

    @cached_property
    def loses_in_ms(self) -> int | None:
        """Until the first loss, where that is near; None where nothing is in danger."""
        return loses_in(self.freshness.event, self.event) if self.freshness else None

    @cached_property
    def rank(self) -> Rank:
        """Sorts groups: those that have lost data, then by when they will; worst status (an
        objective's as well), oldest incident, largest lag; then by name.
        """
        incident = self.event.incident
        since = min((one.breach.since for one in self.broken), default=0)
        opened_at = incident.opened_at if incident else since
        return (
            self._loss_at,
            -SEVERITY[self.severity],
            opened_at,
            -self.event.total_lag,
            self.cluster,
            self.group,
        )

    @property
    def _loss_at(self) -> int:
        """Sorts by loss of data: what is lost comes first, what is in no danger last."""
        left = self.loses_in_ms
        if self.lost_records:
            return 0
        return NEVER if left is None or self.freshness is None else self.freshness.at(left)


def partition_status(status: ShownPartitionStatusName, reason: str | None) -> PartitionStatusName:
    """As it is to Burrow, which takes what it does not know for OK. It asks for commits: where
    there is none it has nothing to say.
    """
    is_ours = status == "BEYOND_END" or reason == "never_committed"
    return "OK" if is_ours or status == "UNKNOWN" else status


def group_status(view: GroupView) -> GroupStatusName:
    """Of the worst partition, as it is to Burrow."""
    topics = view.event.topics.values()
    is_ours = "BEYOND_END" in view.partition_counts or any(
        "never_committed" in topic.reason for topic in topics
    )
    if view.event.status != "ERR" or not is_ours:
        return view.event.status
    worst = max(
        Status[partition_status(status, topic.reason[row])]
        for topic in topics
        for row, status in enumerate(topic.status)
    )
    return _GROUP_STATUSES[worst.for_group()]


_GROUP_STATUSES: dict[Status, GroupStatusName] = {
    Status.OK: "OK",
    Status.WARN: "WARN",
    Status.ERR: "ERR",
}
