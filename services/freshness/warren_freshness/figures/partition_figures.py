"""From a partition's state and what was read to its figures: pure, nothing is asked of anybody.

Retention may delete what was not consumed by time or by size, whichever comes first.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from warren.contracts import FreshnessReason, TimeToLossReason

from warren_freshness.figures import arithmetic
from warren_freshness.figures.held_up import LateSince, has_wrong_time, remembered_at
from warren_freshness.log_position import UNKNOWN, LogPosition, Reading, ReadOutcome
from warren_freshness.positions.topic_columns import PartitionState, lost_records
from warren_freshness.topics.open_transactions import TransactionOwner
from warren_freshness.topics.retention import LogGrowth, SizeLimit

Retention = Mapping[str, int | None]
"""Milliseconds by topic, None where time deletes nothing; absent where nobody knows."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """`limits`: of logs, by topic, where there is one; `growth` of those, by topic and partition.
    `are_refused`: the right to see them is missing."""

    limits: Mapping[str, SizeLimit] = field(default_factory=dict)
    growth: Mapping[tuple[str, int], LogGrowth] = field(default_factory=dict)
    are_refused: bool = False


class Loss(NamedTuple):
    """At least so long, by which limit, and how much of that is left (0 to 1); or why nobody knows
    how long. All None: nothing deletes it."""

    milliseconds: int | None
    reason: TimeToLossReason | None
    share: float | None = None


def time_to_loss(
    state: PartitionState, oldest_at: int, times: Retention, sizes: Sizes, now: int
) -> Loss:
    """Of the oldest record that was not consumed."""
    topic, partition, _ = state.committed
    if topic not in times:
        return Loss(None, "config_unknown")
    retention = times[topic]
    by_time = arithmetic.time_to_loss(oldest_at, retention, now)
    limit = sizes.limits.get(topic)
    if limit is not None:
        growth = sizes.growth.get((topic, partition))
        offset = max(state.next_offset, state.log_start)
        by_size = growth.time_to_loss(offset, *limit, now) if growth else None
        if growth is None or by_size is None:
            return Loss(None, "not_authorised" if sizes.are_refused else "size_unknown")
        if not math.isinf(by_size) and (by_time is None or by_size < by_time):
            left = limit.size - growth.bytes_after(offset, limit.largest_batch)
            return Loss(int(by_size), "retention_bytes", _share(left, limit.size))
    if by_time is None or retention is None:
        return Loss(None, None)
    return Loss(by_time, "retention_ms", _share(by_time, retention))


def loss_of_unread(
    state: PartitionState, times: Retention, sizes: Sizes
) -> TimeToLossReason | None:
    """Why nobody knows it where the oldest record was not read; None where nothing deletes it."""
    topic = state.committed.topic
    if topic not in times:
        return "config_unknown"
    return None if times[topic] is None and topic not in sizes.limits else "oldest_unknown"


def _share(left: int, whole: int) -> float:
    """To the thousandth."""
    return round(min(max(left / whole, 0.0), 1.0), 3) if whole > 0 else 0.0


_UNREAD = Reading("unread")
_REASON_WITHOUT_TIME: dict[ReadOutcome, FreshnessReason] = {
    "record": "bad_timestamp",
    "none": "expired",  # what was not consumed is deleted, and nothing came after it
    "corrupt": "bad_timestamp",
    "not_authorised": "not_authorised",
    "unread": "timeout",
    "estimated": "bad_timestamp",
}


class Row(NamedTuple):
    """One partition's entries in the columns of TopicFreshness."""

    partition: int
    committed: int
    freshness_ms: int | None
    reason: FreshnessReason
    bound_ms: int | None
    lost_records: int = 0
    time_to_loss_ms: int | None = None
    oldest_at: int | None = None
    commit_lag_ms: int | None = None
    append_lag_ms: int | None = None
    late_since: int | None = None
    time_to_loss_reason: TimeToLossReason | None = None
    produce_rate: float | None = None
    consume_rate: float | None = None
    time_to_catch_up_ms: int | None = None
    retention_left: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a pass learnt from the cluster. `newest`: append time of the record before a log end;
    `largest`: the largest timestamp after it; `held_up`: readings at open transactions; `owners` of
    those, by where they begin."""

    readings: Mapping[LogPosition, Reading]
    newest: Mapping[LogPosition, int]
    retention: Retention
    sizes: Sizes = field(default_factory=Sizes)
    held_up: Mapping[LogPosition, Reading] = field(default_factory=dict)
    owners: Mapping[LogPosition, TransactionOwner] = field(default_factory=dict)
    largest: Mapping[LogPosition, int] = field(default_factory=dict)


def measure(
    state: PartitionState, evidence: Evidence, now: int, known: LateSince | None = None
) -> Row:
    """A partition's figures at `now`, Unix ms. `known` is what was remembered of it."""
    place = state.to_read
    if place is None:
        if not state.has_committed:
            return _never_committed(state, now, known)
        if state.is_beyond_end:
            return _without_value(state, "beyond_end", 0, None)
        newest = evidence.newest.get(state.log_end_position)
        return _nothing_left(state, "caught_up", now - state.log_observed_at, newest, now)
    reading = evidence.readings.get(place, _UNREAD)
    if reading.outcome == "beyond_end":
        return _without_value(state, "beyond_end", 0, None)
    # What began later than the commits were seen may have been read before it was deleted: then
    # nobody knows how late the group is, and nothing is counted as lost.
    lost = state.lost_records
    is_gone = lost_records(state.next_offset, max(state.log_start, reading.log_start)) > 0
    if reading.outcome == "none" and not is_gone:
        if reading.undecided_at is not None:
            return _held_up(state, reading, reading.undecided_at, evidence, now)
        off_by = now - state.log_observed_at
        return _nothing_left(state, "control_only", off_by, reading.before, now)
    oldest_at = arithmetic.usable(reading.first, now)
    if oldest_at is not None and not is_gone:
        if not has_wrong_time(state, known):
            row = _behind(state, reading, oldest_at, evidence, now)
            if reading.latest is None:
                return row
            since = remembered_at(state, known).earliest(state, min(reading.latest, now))
            return _estimated(row, now if since is None else since)
        oldest_at = None
    at_the_latest = oldest_at if reading.latest is None else min(reading.latest, now)
    since = remembered_at(state, known).earliest(state, at_the_latest)
    if oldest_at is not None:
        return _expired(state, oldest_at, lost, since, evidence, now)
    reason, at_least = _REASON_WITHOUT_TIME[reading.outcome], arithmetic.at_least(since, now)
    none_left = reading.outcome == "none"
    unknown = None if none_left else loss_of_unread(state, evidence.retention, evidence.sizes)
    return _without_value(state, reason, lost, at_least, since, unknown)


def unheard_of(state: PartitionState, known: LateSince | None = None) -> Row:
    """A partition of a group of which nothing was heard for too long: it may have committed."""
    since = remembered_at(state, known).since
    is_at_ease = not state.has_committed and since is None
    reason: FreshnessReason = "no_commit" if is_at_ease else "timeout"
    row = _without_value(state, reason, state.lost_records, None)
    return row._replace(
        late_since=since,
        produce_rate=None,
        consume_rate=None,
        time_to_catch_up_ms=None,
    )


def _never_committed(state: PartitionState, now: int, known: LateSince | None) -> Row:
    """Nobody knows where the group stands. It is as late, at least, as what was written first after
    it was seen so.
    """
    is_empty = state.log_end == state.log_start != UNKNOWN
    since = None if is_empty else remembered_at(state, known).earliest(state)
    return _without_value(state, "no_commit", 0, arithmetic.at_least(since, now), since)


def to_remember(
    state: PartitionState, row: Row, evidence: Evidence, known: LateSince | None = None
) -> LateSince | None:
    """What the next measurement of the partition must know; None when it is nothing."""
    committed = state.committed.offset
    if row.reason == "control_only" and state.to_read is not None:
        return LateSince(committed, None, evidence.readings[state.to_read].end)
    if row.late_since is None:
        return None
    wrong = row.reason == "bad_timestamp" or has_wrong_time(state, known)
    late = LateSince(committed, row.late_since, has_wrong_time=wrong)
    return known if known == late else late  # there are many, and most stay


def _without_value(
    state: PartitionState,
    reason: FreshnessReason,
    lost: int,
    at_least: int | None,
    since: int | None = None,
    unknown: TimeToLossReason | None = None,
) -> Row:
    _, partition, committed = state.committed
    return Row(
        partition,
        committed,
        None,
        reason,
        at_least,
        lost,
        late_since=since,
        time_to_loss_reason=unknown,
        produce_rate=state.produce_rate,
        consume_rate=state.consume_rate,
        time_to_catch_up_ms=state.catch_up_ms,
    )


def _nothing_left(
    state: PartitionState,
    reason: FreshnessReason,
    off_by: int,
    last_committed: int | None,
    now: int,
) -> Row:
    """Every record was consumed: the last committed one is the newest of the log."""
    return Row(
        partition=state.committed.partition,
        committed=state.committed.offset,
        freshness_ms=0,
        reason=reason,
        bound_ms=max(off_by, 0),
        commit_lag_ms=arithmetic.commit_lag(
            state.committed_at, arithmetic.usable(last_committed, now)
        ),
        append_lag_ms=0,
        produce_rate=state.produce_rate,
        consume_rate=state.consume_rate,
        time_to_catch_up_ms=state.catch_up_ms,
    )


def _held_up(
    state: PartitionState, reading: Reading, undecided_at: int, evidence: Evidence, now: int
) -> Row:
    """Nothing is left but what an open transaction holds back: records for who reads uncommitted
    ones, who is late with them; who does not must wait. Nobody can see which a group does."""
    oldest_at = arithmetic.usable(undecided_at, now)
    if oldest_at is None:
        since = state.known_since
        at_least = arithmetic.at_least(since, now)
        unknown = loss_of_unread(state, evidence.retention, evidence.sizes)
        return _without_value(state, "open_transaction", 0, at_least, since, unknown)
    row = _behind(state, reading, oldest_at, evidence, now)
    # Should it be aborted, there may be nothing that the group is late with.
    return row._replace(reason="open_transaction", bound_ms=max(now - oldest_at, oldest_at - now))


def _behind(
    state: PartitionState, reading: Reading, oldest_at: int, evidence: Evidence, now: int
) -> Row:
    value = arithmetic.age_of(oldest_at, now)
    end = state.log_end_position
    newest = arithmetic.usable(evidence.newest.get(end, evidence.largest.get(end)), now)
    last_committed = arithmetic.usable(reading.before, now)
    loss = time_to_loss(state, oldest_at, evidence.retention, evidence.sizes, now)
    # While nobody knows what the group commits, the last record of a log may be processed.
    return Row(
        partition=state.committed.partition,
        committed=state.committed.offset,
        freshness_ms=value.freshness_ms,
        reason="exact",
        bound_ms=max(
            value.off_by,
            value.freshness_ms if state.rests_at_last_record and not state.is_sure else 0,
        ),
        time_to_loss_ms=loss.milliseconds,
        oldest_at=oldest_at,
        commit_lag_ms=arithmetic.commit_lag(state.committed_at, last_committed),
        append_lag_ms=arithmetic.append_lag(newest, last_committed),
        late_since=oldest_at,
        time_to_loss_reason=loss.reason,
        produce_rate=state.produce_rate,
        consume_rate=state.consume_rate,
        time_to_catch_up_ms=state.catch_up_ms,
        retention_left=loss.share,
    )


def _estimated(row: Row, late_since: int) -> Row:
    """The record was not read: it is as old as the row says, or younger by what it may be off; the
    group was late at `late_since` already."""
    earliest = late_since if row.oldest_at is None else row.oldest_at
    since = max(late_since, earliest)
    bound = max(row.bound_ms or 0, since - earliest)
    return row._replace(reason="estimated", bound_ms=bound, late_since=since)


def _expired(
    state: PartitionState,
    oldest_at: int,
    lost: int,
    since: int | None,
    evidence: Evidence,
    now: int,
) -> Row:
    """The record that the group is late with is gone: later ones tell how late it is at least."""
    at_least = arithmetic.at_least(since, now)
    loss = time_to_loss(state, oldest_at, evidence.retention, evidence.sizes, now)
    return Row(
        partition=state.committed.partition,
        committed=state.committed.offset,
        freshness_ms=None,
        reason="expired",
        # A group that lost records is not up to date, whatever the clocks say.
        bound_ms=max(at_least or 0, 1),
        lost_records=lost,
        time_to_loss_ms=loss.milliseconds,
        oldest_at=oldest_at,
        late_since=since,
        time_to_loss_reason=loss.reason,
        produce_rate=state.produce_rate,
        consume_rate=state.consume_rate,
        time_to_catch_up_ms=state.catch_up_ms,
        retention_left=loss.share,
    )
