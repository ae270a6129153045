"""Partitions of a group, a row for each, and the windows of commits by which they were judged."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nlargest
from typing import Literal, NamedTuple

from warren.contracts import (
    GroupMember,
    LagEvent,
    PartitionStatusName,
    ReasonName,
    Status,
    TopicLag,
    WindowEdge,
)
from warren.contracts.reason import NOT_COUNTED
from warren.errors import ContractViolation
from warren_core.evaluation import UNKNOWN
from warren_core.evaluation.packed_windows import Commits, unpack
from warren_core.judgement.lag_parts import newest_commits
from warren_core.standing.figures import Figure, Figures, has_bounds, is_at_least

from warren_api.model.freshness import FreshnessRow, GroupFreshness

ShownPartitionStatusName = PartitionStatusName | Literal["UNKNOWN"]
SEVERITY = {name: 2 * int(status) for name, status in Status.__members__.items()}
SEVERITY["UNKNOWN"] = SEVERITY["OK"] + 1
"""UNKNOWN is worse than OK, and better than what is known to be bad."""
_NOT_KNOWN: ReasonName = "log_end_unknown"


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
    status: ShownPartitionStatusName
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
        return lost(self.committed, self.log_start)

    @property
    def is_losing(self) -> bool:
        """Records are lost, or are about to be."""
        return self.lost_records > 0 or self.loses_in_ms is not None

    @property
    def loses_in_ms(self) -> int | None:
        """Until the first loss, where it is near."""
        measured = self.freshness
        return measured.loses_in(stands_still=stands_still(self.status)) if measured else None

    def figures(self, measured_at: int) -> Figures:
        """How late it is, and what it loses."""
        of, lost = self.freshness, self.lost_records
        if of is None:
            return Figures(lost=lost)
        late = of.bound_ms if of.freshness_ms is None else of.freshness_ms
        left = of.time_to_loss_ms
        return Figures(
            late=None if late is None else Figure(late, measured_at, of.freshness_ms is None),
            kept_until=None if left is None else Figure(measured_at + left, measured_at),
            loss_reason=of.time_to_loss_reason,
            lost=lost,
        )

    @property
    def known_lag(self) -> int:
        """Lag in records, 0 when it is unknown (as Burrow reports it)."""
        return self.lag or 0

    @property
    def is_lag_at_least(self) -> bool:
        """Nothing was ever committed: the lag is what was written since it was first seen so."""
        return is_at_least(self.lag, self.committed, self.log_start, self.log_end)

    @property
    def badness(self) -> tuple[int, int]:
        """Sorts partitions: the more severe status first, then the larger lag."""
        return SEVERITY[self.status], self.known_lag


def stands_still(status: ShownPartitionStatusName | None) -> bool:
    """Whether nothing is read, as judged; None: it was not."""
    return status in ("STOP", "STALL")


def least_total(columns: TopicLag) -> int | None:
    """What is left, at least; None where nothing is known of some partition."""
    total = sum(lag or 0 for lag in columns.lag)
    rows = zip(columns.lag, columns.committed, strict=True)
    unknown = None in columns.lag and any(lag is None and at >= 0 for lag, at in rows)
    return None if unknown or (not total and has_bounds(columns)) else total


def lags_to_show(columns: TopicLag) -> list[int | None]:
    """By partition; None where it is unknown: at least 0 says nothing."""
    if not has_bounds(columns):  # as mostly
        return columns.lag
    rows = zip(columns.lag, columns.committed, columns.log_start, columns.log_end, strict=True)
    return [None if row[0] == 0 and is_at_least(*row) else row[0] for row in rows]


def lost(committed: int, log_start: int) -> int:
    """Both -1 where unknown; the log start is then no larger."""
    return max(log_start - committed, 0) if committed >= 0 else 0


def rows_of(event: LagEvent, freshness: GroupFreshness | None) -> Iterator[PartitionRow]:
    for name, columns in event.topics.items():
        measured = freshness.rows(name) if freshness else {}
        for index, partition in enumerate(columns.partition):
            yield _row(name, columns, index)._replace(freshness=measured.get(partition))


def shown_statuses(columns: TopicLag) -> Sequence[ShownPartitionStatusName]:
    """One entry per partition: as judged, or UNKNOWN."""
    if None not in columns.lag:  # as nearly always
        return columns.status
    return [_shown(columns, index) for index in range(len(columns.status))]


def _shown(columns: TopicLag, index: int) -> ShownPartitionStatusName:
    return "UNKNOWN" if columns.reason[index] == _NOT_KNOWN else columns.status[index]


def _row(topic: str, columns: TopicLag, index: int) -> PartitionRow:
    return PartitionRow(
        topic,
        columns.partition[index],
        _shown(columns, index),
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


def foremost(event: LagEvent, measure: Callable[[TopicLag], Iterable[int]]) -> PartitionRow | None:
    """The partition with the largest measure, the first of equals; makes no other rows."""
    largest: int | None = None
    found: tuple[str, int] | None = None
    for topic in sorted(event.topics):
        measures = list(measure(event.topics[topic]))
        value = max(measures, default=None)
        if value is not None and (largest is None or value > largest):
            largest, found = value, (topic, measures.index(value))
    return _row(found[0], event.topics[found[0]], found[1]) if found else None


def worst_rows(event: LagEvent, count: int) -> list[PartitionRow]:
    """At most that many that are not OK, the worst first; makes no other rows."""
    found = (
        (badness, topic, index)
        for topic, columns in event.topics.items()
        for index, badness in enumerate(badness_of(columns))
        if badness >> 63 > SEVERITY["OK"]
    )
    return [_row(topic, event.topics[topic], index) for _, topic, index in nlargest(count, found)]


def badness_of(columns: TopicLag) -> Iterable[int]:
    """As PartitionRow.badness in one number, since a lag has 63 bits: a hundred thousand tuples
    would have the garbage collector look through all that is held.
    """
    return (
        (SEVERITY[status] << 63) + (0 if reason in NOT_COUNTED else lag or 0)
        for status, lag, reason in zip(
            shown_statuses(columns), columns.lag, columns.reason, strict=True
        )
    )


Slots = list[Edge | None]
"""One per interval, oldest first, None where no commit is known yet; empty without any commit."""


def windows(event: LagEvent) -> dict[str, dict[int, Slots]]:
    """Slots by topic and partition; none where the windows cannot be read."""
    try:
        commits = unpack(event.windows or "", newest_commits(event))
    except (ContractViolation, OverflowError):
        commits = None
    found: dict[str, dict[int, Slots]] = {}
    row = 0
    for topic in sorted(event.topics):
        found[topic] = {}
        for partition in event.topics[topic].partition:
            found[topic][partition] = _slots(commits, row) if commits else []
            row += 1
    return found


def _slots(commits: Commits, row: int) -> Slots:
    filled = int(commits.filled[row])
    if not filled:
        return []
    empty = commits.intervals - filled
    columns = commits.columns[:, row, empty:].tolist()
    return [None] * empty + [
        Edge(offset, at, observed_at, None if lag == UNKNOWN else lag)
        for offset, at, observed_at, lag in zip(*columns, strict=True)
    ]


def burrow_lag(row: PartitionRow) -> int:
    return _with_deleted(row.lag, row.committed, row.log_start)


def burrow_lags(columns: TopicLag) -> list[int]:
    """One entry per partition."""
    rows = zip(columns.lag, columns.committed, columns.log_start, strict=True)
    return [_with_deleted(*row) for row in rows]


def _with_deleted(lag: int | None, committed: int, log_start: int) -> int:
    return 0 if lag is None else lag + lost(committed, log_start)
