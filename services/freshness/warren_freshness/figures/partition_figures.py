"""From a partition's state and what was read to its figures: pure, nothing is asked of anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import FreshnessReason

from warren_freshness.figures import arithmetic
from warren_freshness.log_position import LogPosition, Reading, ReadOutcome
from warren_freshness.positions.partition_state import PartitionState, lost_records

_UNREAD = Reading("unread")
_REASON_WITHOUT_TIME: dict[ReadOutcome, FreshnessReason] = {
    "record": "bad_timestamp",
    "none": "expired",  # what was not consumed is deleted, and nothing came after it
    "corrupt": "bad_timestamp",
    "not_authorised": "not_authorised",
    "unread": "timeout",
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


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a pass learnt from the cluster. `newest`: append time of the record before a log end;
    `retention`: milliseconds by topic, None where time deletes nothing or it is unknown."""

    readings: Mapping[LogPosition, Reading]
    newest: Mapping[LogPosition, int]
    retention: Mapping[str, int | None]


def measure(state: PartitionState, evidence: Evidence, now: int) -> Row:
    """A partition's figures at `now`, Unix ms."""
    place = state.to_read
    if place is None:
        if not state.has_committed:
            return _without_value(state, "no_commit", 0, None)
        if state.is_beyond_end:
            return _without_value(state, "beyond_end", 0, None)
        newest = evidence.newest.get(state.log_end_position)
        return _nothing_left(state, "caught_up", now - state.log_observed_at, newest, now)
    reading = evidence.readings.get(place, _UNREAD)
    log_start = max(state.log_start, reading.log_start)
    lost = lost_records(state.committed.offset, log_start)
    if reading.outcome == "none" and not lost:
        off_by = _undecided_for(state, reading, now)
        return _nothing_left(state, "control_only", off_by, reading.before, now)
    oldest_at = arithmetic.usable(reading.first, now)
    if oldest_at is not None:
        return _behind(state, reading, oldest_at, lost, evidence, now)
    reason = _REASON_WITHOUT_TIME[reading.outcome]
    return _without_value(state, reason, lost, arithmetic.at_least(state.known_since, now))


def unheard_of(state: PartitionState) -> Row:
    """A partition of a group of which nothing was heard for too long."""
    reason: FreshnessReason = "timeout" if state.has_committed else "no_commit"
    return _without_value(state, reason, state.lost_records, None)


def _without_value(
    state: PartitionState, reason: FreshnessReason, lost: int, at_least: int | None
) -> Row:
    _, partition, committed = state.committed
    return Row(partition, committed, None, reason, at_least, lost)


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
    )


def _undecided_for(state: PartitionState, reading: Reading, now: int) -> int:
    """How far `control_only` may be off: an open transaction's first record may count one day."""
    undecided_since = arithmetic.usable(reading.undecided_at, now)
    return now - (state.log_observed_at if undecided_since is None else undecided_since)


def _behind(
    state: PartitionState, reading: Reading, oldest_at: int, lost: int, evidence: Evidence, now: int
) -> Row:
    value = arithmetic.age_of(oldest_at, now)
    # A group that lost records is not up to date, whatever the clocks say.
    freshness = max(value.freshness_ms, 1) if lost else value.freshness_ms
    newest = arithmetic.usable(evidence.newest.get(state.log_end_position), now)
    # What was committed last is deleted together with what was lost.
    last_committed = None if lost else arithmetic.usable(reading.before, now)
    return Row(
        partition=state.committed.partition,
        committed=state.committed.offset,
        freshness_ms=freshness,
        reason="expired" if lost else "exact",
        bound_ms=value.off_by,
        lost_records=lost,
        time_to_loss_ms=arithmetic.time_to_loss(
            oldest_at, evidence.retention.get(state.committed.topic), now
        ),
        oldest_at=oldest_at,
        commit_lag_ms=arithmetic.commit_lag(state.committed_at, last_committed),
        append_lag_ms=arithmetic.append_lag(newest, last_committed),
    )
