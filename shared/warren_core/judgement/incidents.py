"""Incidents, the times during which a group is not OK: their identities, and status changes as they
are published on `warren.lag-status`.

Nothing here is random: the same events give the same ids, so that a replay tells nobody anything
new.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from warren.contracts import (
    MAX_PARTITIONS,
    BadPartition,
    Cause,
    EndReasonName,
    Incident,
    MaxLag,
    OffsetEvent,
    Status,
    StatusChange,
    StatusChangeEvent,
    group_name,
    partition_name,
)
from warren.words import counted, duration, records

from warren_core.evaluation import UNKNOWN, Mark, Presence, presence_of
from warren_core.judgement.columns import Latest
from warren_core.judgement.state import GroupState
from warren_core.judgement.verdict import Verdict
from warren_core.ownership import NOBODY_S, Ownership

_FASTEST = 1_000_000  # records a second: no client reads more of one partition
_ENDS: dict[EndReasonName, str] = {
    "group_deleted": "the group was deleted",
    "group_expired": "the group has not committed for longer than it is kept",
    "group_forgotten": "the group was forgotten on request until it commits again",
    "offsets_expired": "its committed offsets have expired",
    "offsets_deleted": "its committed offsets, or their topics, were deleted",
    "records_skipped": "its committed offsets were set further on",
    "not_watched": "it is not watched any more: the collector's settings leave it out",
}
_START = "clients start there where their auto.offset.reset says, by default at the log's end"
_WITHOUT_OFFSETS = ("group_deleted", "offsets_expired", "offsets_deleted")
_NAMESPACE = uuid.UUID("6d2a1f0e-5b0c-5f3a-9d7e-3a1c62f0b8d4")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def status_change(
    event: OffsetEvent,
    before: GroupState,
    state: GroupState,
    verdict: Verdict,
    cause: Cause | None = None,
    ownership: Ownership = NOBODY_S,
    known: GroupState | None = None,
) -> StatusChangeEvent | None:
    """A group went from one status to another; None where it did not. `known`: before the event,
    with the partitions that it removes.
    """
    if state.status is before.status:
        return None
    removed, gone = "", why_gone(event, "offsets_deleted")
    if known and state.status is Status.OK:
        removed = _unread(known, event.removed)
        if not removed and (removed := _skipped(event, known, state)):
            gone = "records_skipped"
    began = before.opened_at if state.opened_at is None else state.opened_at
    assert began is not None  # a status other than OK, before or now, has an incident
    group, why, late = verdict.group, verdict.why, verdict.late
    listed = [_bad_partition(state, verdict, row) for row in why.worst_first[:MAX_PARTITIONS]]
    return _change(
        event,
        StatusChange(
            cluster=event.cluster,
            group=event.group,
            status=group_name(group.status),
            previous=group_name(before.status),
            reason=gone if removed else why.reason,
            explanation=_ended(event, gone, removed) if removed else why.explanation,
            cause=cause,
            incident_id=incident_id(event.cluster, event.group, began),
            opened_at=began,
            total_lag=group.total_lag,
            late_ms=None if late is None else late.late_ms,
            time_to_loss_ms=None if late is None else late.time_to_loss_ms,
            max_lag=_max_lag(state, verdict),
            partition_counts={partition_name(status): n for status, n in group.counts.items()},
            partitions=listed,
            partitions_omitted=len(why.worst_first) - len(listed),
            **ownership.fields(),
        ),
    )


def incident_ended(
    event: OffsetEvent,
    known: GroupState | None,
    reason: EndReasonName,
    ownership: Ownership = NOBODY_S,
) -> StatusChangeEvent | None:
    """A group is no more; None where it had no open incident."""
    if known is None or known.opened_at is None:
        return None
    return _change(
        event,
        StatusChange(
            cluster=event.cluster,
            group=event.group,
            status="NOTFOUND",
            previous=group_name(known.status),
            reason=reason,
            explanation=_ended(event, reason, _unread(known, known.layout.topics)),
            incident_id=incident_id(event.cluster, event.group, known.opened_at),
            opened_at=known.opened_at,
            total_lag=0,
            max_lag=None,
            partition_counts={},
            partitions=[],
            **ownership.fields(),
        ),
    )


def why_gone(event: OffsetEvent, deleted: EndReasonName) -> EndReasonName:
    """Say why an event removes what it does; `deleted`: if neither time nor settings did."""
    if event.unwatched:
        return "not_watched"
    return deleted if event.expired_after_ms is None else "offsets_expired"


def _skipped(event: OffsetEvent, known: GroupState, state: GroupState) -> str:
    """What offsets passed that nobody has read, as `_unread` says it: all in a group that is known
    to have no members, of whom some were there before, else what went by faster than anybody reads.
    """
    if (track := known.track) is None:
        return ""
    was_there = (track.marks[Mark.THERE_SINCE] >= 0).any()
    is_empty = was_there & (presence_of(event.group_state) is Presence.NOBODY)
    skipped = {}
    for topic, numbers in known.layout.topics.items():
        then, now = known.layout.rows(topic, numbers), state.layout.rows(topic, numbers)
        there = (then >= 0) & (now >= 0)
        first = np.maximum(*known.latest[[Latest.COMMITTED, Latest.LOG_START]][:, then[there]])
        passed = np.maximum(state.latest[Latest.COMMITTED, now[there]] - first, 0)
        elapsed = event.observed_at - track.marks[Mark.ADVANCED_AT, then[there]]
        unread = (first >= 0) & (is_empty | (passed * 1000 > _FASTEST * elapsed))
        skipped[topic] = int(passed[unread].sum())
    return _records_of(skipped)


def _unread(known: GroupState, partitions: Mapping[str, Sequence[int]]) -> str:
    """`1,600 records in orders and 1 more topic`: what is left there; empty where nothing is."""
    lag, left = known.least_lag, {}
    for topic, numbers in partitions.items():
        rows = known.layout.rows(topic, numbers)
        left[topic] = int(np.maximum(lag[rows[rows >= 0]], 0).sum())
    return _records_of(left)


def _records_of(left: Mapping[str, int]) -> str:
    topics = [topic for topic, count in left.items() if count]
    if not topics:
        return ""
    more = f" and {counted(len(topics) - 1, 'more topic')}" if len(topics) > 1 else ""
    return f"{records(sum(left.values()))} in {topics[0]}{more}"


def _ended(event: OffsetEvent, reason: EndReasonName, unread: str) -> str:
    """Why, what was left, and where clients go on."""
    after = event.expired_after_ms
    idle = "" if after is None else f", {duration(after)} without a commit"
    left = f", {unread} unread; {_START}" if unread and reason in _WITHOUT_OFFSETS else ""
    if reason == "records_skipped":
        left = f", {unread} skipped"
    return f"{_ENDS[reason]}{idle}{left}"


def derived_id(*of: object) -> str:
    """Of whatever tells it from all others."""
    return str(uuid.uuid5(_NAMESPACE, "|".join(map(str, of))))


def incident_id(cluster: str, group: str, opened: int) -> str:
    return derived_id(cluster, group, opened)


def incident(cluster: str, group: str, opened: int | None) -> Incident | None:
    if opened is None:
        return None
    return Incident(id=incident_id(cluster, group, opened), opened_at=opened)


def _change(event: OffsetEvent, data: StatusChange) -> StatusChangeEvent:
    cause = (event.source, event.position, event.observed_at)
    return StatusChangeEvent(
        # One event cannot cause the same change twice.
        id=derived_id(event.cluster, event.group, *cause, data.previous, data.status),
        source=f"/warren/clusters/{event.cluster}",
        subject=event.group,
        time=_EPOCH + timedelta(milliseconds=event.observed_at),
        data=data,
    )


def _bad_partition(state: GroupState, verdict: Verdict, row: int) -> BadPartition:
    topic, partition = state.layout.name(row)
    latest = state.latest[:, row].tolist()
    lag, why = int(verdict.lag[row]), verdict.why.by_row[row]
    return BadPartition(
        topic=topic,
        partition=partition,
        status=partition_name(int(verdict.partitions.status[row])),
        lag=None if lag == UNKNOWN else lag,
        committed=latest[Latest.COMMITTED],
        log_end=latest[Latest.LOG_END],
        committed_at=latest[Latest.COMMITTED_AT],
        reason=why.reason,
        explanation=why.sentence,
    )


def _max_lag(state: GroupState, verdict: Verdict) -> MaxLag | None:
    row = verdict.group.max_lag_row
    if row is None:
        return None
    topic, partition = state.layout.name(row)
    return MaxLag(topic=topic, partition=partition, lag=int(verdict.least_lag[row]))
