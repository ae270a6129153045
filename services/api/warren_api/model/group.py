"""One consumer group as it was last judged, with what readers ask for worked out once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from warren.contracts import (
    Breach,
    Cause,
    GroupMember,
    GroupStatusName,
    LagEvent,
    OpenTransaction,
    PartitionStatusName,
    Status,
    TimeToLossReason,
    TopicLag,
    WindowEdge,
)
from warren.loss_words import deleted

from warren_api.model.freshness import FreshnessRow, GroupFreshness
from warren_api.model.membership import Membership
from warren_api.model.shown_status import Verdict

_SEVERITY = {name: int(status) for name, status in Status.__members__.items()}
Rank = tuple[bool, int, int, int, str, str]
RANK_STEP = 10  # between two severities in a rank


class Edge(NamedTuple):
    """Oldest or newest commit of a window. Times in Unix milliseconds, lag in records."""

    offset: int
    at: int
    observed_at: int
    lag: int | None


class PartitionRow(NamedTuple):
    """One partition: the columns of a LagEvent turned into a row."""

    topic: str
    partition: int
    status: PartitionStatusName
    committed: int
    committed_at: int
    log_start: int
    log_end: int
    lag: int | None
    complete: float
    start: Edge | None
    end: Edge | None
    freshness: FreshnessRow | None = None
    owner: GroupMember | None = None
    reason: str | None = None
    explanation: str | None = None

    @property
    def lost_records(self) -> int:
        """Offsets deleted before they were consumed."""
        if self.freshness:
            return self.freshness.lost_records
        return _lost(self.committed, self.log_start)

    @property
    def is_losing(self) -> bool:
        """Records are lost, or are about to be."""
        running_out = self.freshness is not None and self.freshness.is_running_out
        return self.lost_records > 0 or running_out

    @property
    def known_lag(self) -> int:
        """Lag in records, 0 when it is unknown (as Burrow reports it)."""
        return self.lag or 0

    @property
    def badness(self) -> tuple[int, int]:
        """Sorts partitions: the more severe status first, then the larger lag."""
        return _SEVERITY[self.status], self.known_lag


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


@dataclass(frozen=True)
class GroupView:
    """A group's newest evaluation. Immutable: the next evaluation makes a new view."""

    event: LagEvent
    changed: StatusSince | None = None
    freshness: GroupFreshness | None = None
    membership: Membership | None = None
    broken: tuple[BrokenObjective, ...] = ()
    """Worst first."""
    # Text made from the view, by what it is for: a list of all groups is asked for again and again,
    # and most of them have not changed since.
    rendered: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def cluster(self) -> str:
        return self.event.cluster

    @property
    def group(self) -> str:
        return self.event.group

    @cached_property
    def partitions(self) -> tuple[PartitionRow, ...]:
        """All partitions by topic and number."""
        rows = map(self._owned, _rows(self.event, self.freshness))
        return tuple(sorted(rows, key=lambda row: (row.topic, row.partition)))

    @property
    def partition_count(self) -> int:
        return sum(len(topic.partition) for topic in self.event.topics.values())

    @cached_property
    def partition_counts(self) -> dict[PartitionStatusName, int]:
        """How many partitions have which status, worst first; statuses without any are left out."""
        counts = Counter(name for topic in self.event.topics.values() for name in topic.status)
        return dict(sorted(counts.items(), key=lambda item: -_SEVERITY[item[0]]))

    @cached_property
    def worst(self) -> PartitionRow | None:
        """The partition to look at first: the most severe status, then the largest lag."""
        found = _foremost(self.event, _badness)
        return self._owned(found) if found else None

    @cached_property
    def max_lag(self) -> PartitionRow | None:
        """The partition with the largest lag; the first of equals, as in Burrow."""
        found = _foremost(self.event, _known_lags)
        return self._owned(found) if found else None

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
        return Verdict(event.status, event.status, event.reason, event.explanation, self.since)

    @property
    def worst_broken(self) -> GroupStatusName:
        """How bad the worst is of the objectives that it does not keep."""
        return self.broken[0].breach.status if self.broken else "OK"

    @cached_property
    def needs_somebody(self) -> bool:
        """Somebody has to do something, if it is as it was last judged."""
        return self.is_losing or "ERR" in (self.event.status, self.worst_broken)

    @cached_property
    def lost_records(self) -> int:
        """Offsets deleted before they were consumed, as measured; else by what was judged."""
        if self.freshness:
            return self.freshness.event.lost_records
        return sum(
            _lost(committed, log_start)
            for topic in self.event.topics.values()
            for committed, log_start in zip(topic.committed, topic.log_start, strict=True)
        )

    @cached_property
    def loss(self) -> str:
        """What retention has deleted before it was consumed, in words; empty where nothing."""
        if not self.lost_records:
            return ""
        losing = [row for row in self.partitions if row.lost_records]
        worst = max(losing, key=lambda row: row.lost_records, default=None)
        place = "" if worst is None else f"{worst.topic}/{worst.partition}"
        return deleted(self.lost_records, place, len(losing))

    @cached_property
    def cause(self) -> Cause | None:
        """As last judged, where anything speaks clearly for one; records lost as last measured."""
        cause = self.event.cause
        if cause is None or not cause.is_known:
            return None
        is_loss = cause.name == "records_lost" and self.lost_records
        return cause.model_copy(update={"sentence": self.loss}) if is_loss else cause

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
        return self.lost_records > 0 or self.loses_in_ms is not None

    @property
    def is_troubled(self) -> bool:
        """As last judged and measured: all others are ranked after it."""
        return self.event.status != "OK" or self.is_losing or bool(self.broken)

    @property
    def loses_in_ms(self) -> int | None:
        """Until the first loss, where it comes within the hour and before the group, at its rates,
        has caught up; None where nothing is in danger.
        """
        if self.freshness is None or not self.freshness.is_running_out:
            return None
        left, catch_up = self.freshness.running_out_ms, self.catch_up_ms
        return None if left is None or (catch_up is not None and catch_up < left) else left

    @cached_property
    def rank(self) -> Rank:
        """Sorts groups: loss of data, worst status (an objective's as well), oldest incident,
        largest lag; then by name.
        """
        incident = self.event.incident
        since = min((one.breach.since for one in self.broken), default=0)
        opened_at = incident.opened_at if incident else since
        severity = max(_SEVERITY[self.event.status], _SEVERITY[self.worst_broken])
        keeps = not self.is_losing
        return (
            keeps,
            -RANK_STEP * severity,
            opened_at,
            -self.event.total_lag,
            self.cluster,
            self.group,
        )


def _lost(committed: int, log_start: int) -> int:
    """Both -1 where unknown; the log start is then no larger."""
    return max(log_start - committed, 0) if committed >= 0 else 0


def _rows(event: LagEvent, freshness: GroupFreshness | None) -> Iterator[PartitionRow]:
    for name, columns in event.topics.items():
        measured = freshness.rows(name) if freshness else {}
        for index, partition in enumerate(columns.partition):
            yield _row(name, columns, index)._replace(freshness=measured.get(partition))


def _row(topic: str, columns: TopicLag, index: int) -> PartitionRow:
    return PartitionRow(
        topic,
        columns.partition[index],
        columns.status[index],
        columns.committed[index],
        columns.committed_at[index],
        columns.log_start[index],
        columns.log_end[index],
        columns.lag[index],
        columns.complete[index],
        edge(columns.window_start, index),
        edge(columns.window_end, index),
        reason=columns.reason[index],
        explanation=columns.explanation[index],
    )


def edge(columns: WindowEdge, index: int) -> Edge | None:
    """None where the window is empty."""
    offset, at, observed_at = columns.offset[index], columns.at[index], columns.observed_at[index]
    if offset is None or at is None:
        return None
    return Edge(offset, at, at if observed_at is None else observed_at, columns.lag[index])


def _foremost(event: LagEvent, measure: Callable[[TopicLag], Iterable[int]]) -> PartitionRow | None:
    """The partition with the largest measure, the first of equals; makes no other rows."""
    largest: int | None = None
    found: tuple[str, int] | None = None
    for topic in sorted(event.topics):
        measures = list(measure(event.topics[topic]))
        value = max(measures, default=None)
        if value is not None and (largest is None or value > largest):
            largest, found = value, (topic, measures.index(value))
    return _row(found[0], event.topics[found[0]], found[1]) if found else None


def _known_lags(columns: TopicLag) -> Iterable[int]:
    return (lag or 0 for lag in columns.lag)


def _badness(columns: TopicLag) -> Iterable[int]:
    """As PartitionRow.badness in one number, since a lag has 63 bits: a hundred thousand tuples
    would have the garbage collector look through all that is held.
    """
    return (
        (_SEVERITY[status] << 63) + (lag or 0)
        for status, lag in zip(columns.status, columns.lag, strict=True)
    )
