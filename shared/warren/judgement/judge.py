"""Judgement: an offset event and what is known of its group, in; what to remember and say, out.

Pure: takes "now" from the event and asks nobody anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warren.contracts import EndReasonName, LagEvent, OffsetEvent, Status, StatusChangeEvent
from warren.evaluation import (
    UNKNOWN,
    Column,
    Evidence,
    GroupRules,
    Int64,
    PartitionRules,
    Sighting,
    Track,
    Windows,
    by_partition,
    explain,
    is_expired,
    judge_group,
    judge_partitions,
)
from warren.judgement.forgetting import as_removal, forget, recalled, to_forget
from warren.judgement.incidents import opened_at
from warren.judgement.lag_events import lag_event
from warren.judgement.observation import Observation, check_ranges, observe
from warren.judgement.reasons import reasons
from warren.judgement.state import Applied, GroupGone, GroupState, Latest
from warren.judgement.status_changes import incident_ended, status_change


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The event was applied before, or is older than one that was."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """The event is about a group that has expired or was forgotten, and is not known any more."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The group was judged."""

    state: GroupState
    lag: LagEvent
    change: StatusChangeEvent | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The group was deleted, has expired, or was forgotten until its next commit."""

    state: GroupGone | GroupState
    change: StatusChangeEvent | None


Outcome = Duplicate | Nothing | Judged | Ended


def judge(
    event: OffsetEvent,
    state: GroupState | GroupGone | None,
    rules: GroupRules,
    *,
    source_offset: int = UNKNOWN,
) -> Outcome:
    """`source_offset` is the event's offset in `warren.offsets`. Raises ContractViolation."""
    check_ranges(event)
    known = state if isinstance(state, GroupState) else None
    if event.forget is not None:
        return _forgotten(event, known, rules)
    if state is not None and not state.applied.is_before(event):
        return Duplicate()
    if event.deleted:
        return _ended(event, known, "group_deleted", source_offset)
    if known is not None and known.forgotten:
        event, known = recalled(event, known)
        if not known.layout.topics and not event.topics:
            return Nothing()
    updated, applied = _updated(event, known, rules)
    if is_expired(updated.windows, event.observed_at, rules.group.expire_group_ms):
        if known is None:
            return Nothing()
        return _ended(event, known, "group_expired", source_offset)
    return _judged(event, updated, rules, applied)


def _ended(
    event: OffsetEvent, known: GroupState | None, reason: EndReasonName, source_offset: int
) -> Ended:
    change = None
    if known is not None and known.opened_at is not None:
        change = incident_ended(event, known.status, known.opened_at, reason)
    return Ended(GroupGone(Applied.by(event), source_offset), change)


def _forgotten(
    request: OffsetEvent, known: GroupState | None, rules: GroupRules
) -> Judged | Ended | Nothing:
    partitions = to_forget(request, known) if known else {}
    if known is None or not partitions:
        return Nothing()
    event = as_removal(partitions, request, known)
    updated, applied = _updated(event, known, rules)
    updated = forget(partitions, updated)
    if updated.layout.topics:
        return _judged(event, updated, rules, applied)
    change = None
    if known.opened_at is not None:
        change = incident_ended(event, known.status, known.opened_at, "group_forgotten")
    return Ended(replace(updated, status=Status.NOTFOUND, opened_at=None), change)


def _updated(
    event: OffsetEvent, known: GroupState | None, rules: GroupRules
) -> tuple[GroupState, PartitionRules]:
    """The state with the event's observation in it; partitions it does not name stay."""
    old = known or GroupState.new(Applied.by(event), rules.group.intervals)
    named = {topic: positions.partition for topic, positions in event.topics.items()}
    layout = old.layout.without_topics(event.removed).with_topics(named)
    applied = PartitionRules.of(rules, layout.counts())
    rows = old.layout.rows_of(layout)
    windows = old.windows.resized(applied.slots).take(rows)
    if not old.applied.shares_order_with(event):
        windows.forget_orders()
    latest = np.full((len(Latest), len(rows)), UNKNOWN, np.int64)
    latest[:, rows >= 0] = old.latest[:, rows[rows >= 0]]
    observation = observe(event, layout)
    latest[:, observation.rows] = observation.latest
    _insert(windows, observation, event, applied)
    state = replace(
        old,
        applied=Applied.by(event),
        layout=layout,
        latest=latest,
        windows=windows,
        track=_tracked(old, rows, observation, event, applied),
    )
    return state, applied


def _insert(
    windows: Windows, observation: Observation, event: OffsetEvent, rules: PartitionRules
) -> None:
    rows, latest = observation.rows, observation.latest
    committed, committed_at = latest[Latest.COMMITTED], latest[Latest.COMMITTED_AT]
    windows.clear(rows[committed < 0])  # its committed offset is gone
    lag = _lag_of_commits(latest, windows.log_ends[rows, -1])
    windows.remember_log_ends(rows, latest[Latest.LOG_END])
    differs = (committed != windows.newest(Column.OFFSET)[rows]) | (
        committed_at != windows.newest(Column.COMMITTED_AT)[rows]
    )
    is_first = windows.filled[rows] == 0
    moved = (committed >= 0) & (is_first | ((observation.commits > 0) & differs))
    order = event.observed_at if event.position < 0 else event.position
    commits = np.empty((len(Column), int(moved.sum())), np.int64)
    commits[Column.OFFSET] = committed[moved]
    commits[Column.COMMITTED_AT] = committed_at[moved]
    commits[Column.OBSERVED_AT] = event.observed_at
    commits[Column.LAG] = lag[moved]
    commits[Column.ORDER] = order
    into = rows[moved]
    windows.insert(into, commits, rules.min_distance_of(into), rules.capacity_of(into))
    if not isinstance(rules.intervals, int):
        windows.limit(rules.intervals)


def _tracked(
    old: GroupState,
    rows: Int64,
    observation: Observation,
    event: OffsetEvent,
    rules: PartitionRules,
) -> Track | None:
    """What `progress` knows after this event; nothing where no partition is judged by it."""
    if "progress" not in rules.policies:
        return None
    track = Track.empty(len(rows)) if old.track is None else old.track.take(rows)
    latest = observation.latest
    sighting = Sighting(
        at=event.observed_at,
        committed=latest[Latest.COMMITTED],
        committed_at=latest[Latest.COMMITTED_AT],
        commits=observation.commits,
        log_end=latest[Latest.LOG_END],
        allowed_lag=rules.allowed_lag_of(observation.rows),
    )
    track.observe(observation.rows, sighting)
    return track


def _lag(latest: Int64) -> Int64:
    """Log end - committed offset, at least 0; UNKNOWN when either is."""
    committed, log_end = latest[Latest.COMMITTED], latest[Latest.LOG_END]
    known = (committed >= 0) & (log_end >= 0)
    return np.where(known, np.maximum(log_end - committed, 0), UNKNOWN)


def _lag_of_commits(latest: Int64, log_end_before: Int64) -> Int64:
    """The lag, but 0 where a commit reached the log end of the observation before it.

    What was written since then came after the commit, or hardly before it: a consumer that keeps up
    with a steady producer is not behind, although there always is something new when one looks.
    """
    lag, committed = _lag(latest), latest[Latest.COMMITTED]
    caught_up = (log_end_before != UNKNOWN) & (committed >= log_end_before) & (lag != UNKNOWN)
    return np.where(caught_up, 0, lag)


def _least_lag(state: GroupState, lag: Int64) -> Int64:
    """The lag that a partition is judged by: that of now or, while no broker says where the log
    ends, the one that follows from where it last ended. Logs only grow, so it is at least that.
    """
    then = state.latest.copy()
    then[Latest.LOG_END] = state.windows.log_ends[:, -1]
    return np.where(lag == UNKNOWN, _lag(then), lag)


def _judged(
    event: OffsetEvent, updated: GroupState, group_rules: GroupRules, rules: PartitionRules
) -> Judged:
    lag = _lag(updated.latest)
    evidence = Evidence(updated.windows, _least_lag(updated, lag), event.observed_at, updated.track)
    partitions = judge_partitions(
        evidence,
        by_partition(rules.policies),
        intervals=rules.intervals,
        allowed_lag=rules.allowed_lag,
        minimum_complete=rules.minimum_complete,
    )
    group = judge_group(partitions, lag)
    found = explain(evidence, partitions.status, rules.policies, rules.allowed_lag)
    why = reasons(updated.layout, partitions.status, lag, found)
    since = opened_at(updated.opened_at, group.status, event.observed_at)
    state = replace(updated, status=group.status, opened_at=since)
    change = None
    if group.status is not updated.status:
        began = updated.opened_at if since is None else since
        assert began is not None  # a status other than OK, before or now, has an incident
        change = status_change(event, state, updated.status, began, lag, partitions, group, why)
    report = lag_event(event, state, lag, partitions, group, group_rules.group.policy, why)
    return Judged(state, report, change)
