"""How late a group is, as it was last measured, and whether to believe it still."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

from warren.contracts import FreshnessEvent, FreshnessReason, TimeToLossReason, TopicFreshness
from warren_core.judgement.counted import without
from warren_core.objectives.near_loss import is_soon, runs_out

STALE_INTERVALS = 3
_GAPS_KEPT = 5


class FreshnessRow(NamedTuple):
    """One partition of a FreshnessEvent; its columns, in the order of the contract."""

    committed: int
    freshness_ms: int | None
    reason: FreshnessReason
    bound_ms: int | None
    lost_records: int
    time_to_loss_ms: int | None
    oldest_at: int | None
    commit_lag_ms: int | None
    append_lag_ms: int | None
    late_since: int | None = None
    time_to_loss_reason: TimeToLossReason | None = None
    retention_left: float | None = None
    time_to_catch_up_ms: int | None = None

    def loses_in(self, *, stands_still: bool) -> int | None:
        """Until loss, where that runs down and comes within the hour; None where nothing is in
        danger.
        """
        late = self.bound_ms if self.freshness_ms is None else self.freshness_ms
        left = self.time_to_loss_ms
        is_near = runs_out(left, self.retention_left, late, stands_still=stands_still)
        if left is None or not is_near or not is_soon(left, self.time_to_catch_up_ms):
            return None
        return left


@dataclass(frozen=True)
class GroupFreshness:
    """The newest measurement of a group, and the milliseconds between the last few."""

    event: FreshnessEvent
    gaps: tuple[int, ...] = ()

    def followed_by(self, event: FreshnessEvent) -> Self:
        gap = event.measured_at - self.event.measured_at
        gaps = (*self.gaps, gap)[-_GAPS_KEPT:] if gap > 0 else self.gaps
        return type(self)(event, gaps)

    def without(self, topics: Collection[str]) -> Self:
        """As if the group had never read these topics."""
        return type(self)(without(self.event, topics), self.gaps) if topics else self

    def is_stale(self, now: int, interval: int) -> bool:
        """Older at `now` (Unix ms) than three times the usual interval.

        Usual is `interval` (ms), or longer where passes take longer: the shortest of the last
        gaps, two at least, so that an outage does not make the next one look usual.
        """
        usual = max(interval, min(self.gaps)) if len(self.gaps) > 1 else interval
        return now - self.event.measured_at > STALE_INTERVALS * usual

    @cached_property
    def reason(self) -> FreshnessReason | None:
        """Of the latest partition; when no value is known, the one that most partitions have."""
        worst, topics = self.event.worst, self.event.topics
        if worst and worst.topic in topics and worst.partition in topics[worst.topic].partition:
            columns = topics[worst.topic]
            return columns.reason[columns.partition.index(worst.partition)]
        return _commonest(reason for columns in self._topics for reason in columns.reason)

    @property
    def unknown_partitions(self) -> int:
        """Partitions with a commit whose value is not known."""
        return len(self._unknown)

    @cached_property
    def unknown_reason(self) -> FreshnessReason | None:
        """Why values are not known, of most of those partitions; None when all are known."""
        return _commonest(reason for reason, _ in self._unknown)

    @property
    def at_least_ms(self) -> int | None:
        """How late the group is at least, when some partition's value is unknown; None when all
        are known, or nothing is.
        """
        return self.event.at_least_ms

    @property
    def late_ms(self) -> int | None:
        """How late the group is: exactly or, where only that is known, at least."""
        at_least = self.at_least_ms
        return self.event.freshness_ms if at_least is None else at_least

    @cached_property
    def _unknown(self) -> tuple[tuple[FreshnessReason, int | None], ...]:
        """Reason, and how late at least, of partitions without a value that have something left."""
        return tuple(
            (reason, bound)
            for topic in self._topics
            for row, (freshness, reason, bound) in enumerate(
                zip(topic.freshness_ms, topic.reason, topic.bound_ms, strict=True)
            )
            if freshness is None and not topic.is_unwritten(row)
        )

    def at(self, left_ms: int) -> int:
        """When so much has run down since the measurement, Unix milliseconds."""
        return self.event.measured_at + left_ms

    @property
    def _topics(self) -> Iterable[TopicFreshness]:
        return self.event.topics.values()

    def rows(self, topic: str) -> dict[int, FreshnessRow]:
        """By partition; empty for a topic that was not measured."""
        columns = self.event.topics.get(topic)
        if columns is None:
            return {}
        of_rows = (getattr(columns, name) for name in FreshnessRow._fields)
        rows = (FreshnessRow(*values) for values in zip(*of_rows, strict=True))
        return dict(zip(columns.partition, rows, strict=True))


def late_ms(columns: TopicFreshness) -> list[int | None]:
    """By partition how late it is: exactly or, where only that is known, at least."""
    return [
        bound if late is None else late
        for late, bound in zip(columns.freshness_ms, columns.bound_ms, strict=True)
    ]


def _commonest(reasons: Iterable[FreshnessReason]) -> FreshnessReason | None:
    counts = Counter(reasons).most_common(1)
    return counts[0][0] if counts else None
