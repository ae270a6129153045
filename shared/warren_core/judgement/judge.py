"""Judgement: an offset event and what is known of its group, in; what to remember and say, out.

Pure: takes "now" from the event and asks nobody anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from warren.contracts import Cause, EndReasonName, LagEvent, OffsetEvent, Status, StatusChangeEvent

from warren_core.evaluation import (
    UNKNOWN,
    Evidence,
    Following,
    GroupRules,
    GroupVerdict,
    Int64,
    Onset,
    PartitionRules,
    PartitionVerdicts,
    by_partition,
    explain,
    is_expired,
    judge_group,
    judge_partitions,
    onset_of,
    presence_of,
    told_beyond_end,
)
from warren_core.evaluation.windows import Column
from warren_core.judgement.causes import find_cause
from warren_core.judgement.control_records import told_nothing_left
from warren_core.judgement.facts import Facts, Knowledge
from warren_core.judgement.forgetting import as_removal, forget, recalled, to_forget
from warren_core.judgement.incidents import opened_at, openings
from warren_core.judgement.lag_events import LagColumns, lag_event
from warren_core.judgement.lags import lag_before, lag_of, least_lag_of
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.log_columns import logs_told
from warren_core.judgement.membership import Membership
from warren_core.judgement.observation import check_ranges
from warren_core.judgement.reasons import NONE, Reasons, reasons
from warren_core.judgement.state import Applied, GroupGone, GroupState
from warren_core.judgement.status_changes import incident_ended, status_change
from warren_core.judgement.turns import told_in_turn
from warren_core.judgement.update import updated_state


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


@dataclass(frozen=True, slots=True)
class Taken:
    """A part of an observation whose last part is to come; the group is judged then. Also where
    nothing is known but that an incident is open: it is over when something says so."""

    state: GroupState


NOTHING_ELSE = Knowledge()
ENOUGH_COMMITS = 4
"""Of a partition of which nothing was known: by then it goes on."""
Outcome = Duplicate | Nothing | Taken | Judged | Ended


def judge(
    event: OffsetEvent,
    state: GroupState | GroupGone | None,
    rules: GroupRules,
    *,
    source_offset: int = UNKNOWN,
    more_follows: bool = False,
    knowledge: Knowledge = NOTHING_ELSE,
) -> Outcome:
    """`source_offset` is the event's offset in `warren.offsets`. Raises ContractViolation.

    `more_follows`: the next part of the observation is there too, whether the event says so or not.
    `knowledge`: what is known of the group beside its offsets.
    """
    check_ranges(event)
    known = state if isinstance(state, GroupState) else None
    if event.forget is not None:
        return _forgotten(event, known, rules, knowledge)
    if state is not None and not state.applied.is_before(event, source_offset):
        return Duplicate()
    if known is not None and known.applied.was_ahead(event):
        known = known.begun_anew()
    if event.deleted:
        return _ended(event, known, "group_deleted", source_offset)
    if known is not None and known.forgotten:
        event, known = recalled(event, known)
        if not known.layout.topics and not event.topics:
            return Nothing()
    updated, applied = updated_state(event, known, rules, source_offset)
    if more_follows or event.part + 1 < event.parts:
        return Taken(updated)
    if is_expired(updated.windows, event.observed_at, rules.group.expire_group_ms):
        if known is None:
            return Nothing()
        return _ended(event, known, "group_expired", source_offset)
    outcome = _judged(event, known, updated, rules, applied, knowledge)
    is_told = known is None or not known.is_incident_alone or outcome.state.status is not Status.OK
    return outcome if is_told or _goes_on(updated) else Taken(updated)


def _goes_on(state: GroupState) -> bool:
    """Whether all partitions have nothing left, or have gone on since anything is known of them."""
    windows = state.windows
    left = lag_of(state.latest, state.steps) != 0  # unknown is not nothing
    advanced = windows.newest(Column.OFFSET) > windows.oldest(Column.OFFSET)
    goes_on = (windows.filled >= ENOUGH_COMMITS) & advanced
    return bool(np.all(goes_on | ~left | (windows.filled == 0)))


def _ended(
    event: OffsetEvent, known: GroupState | None, reason: EndReasonName, source_offset: int
) -> Ended:
    gone = GroupGone(Applied.by(event, source_offset), source_offset)
    return Ended(gone, _incident_end(event, known, reason))


def _incident_end(
    event: OffsetEvent, known: GroupState | None, reason: EndReasonName
) -> StatusChangeEvent | None:
    if known is None or known.opened_at is None:
        return None
    return incident_ended(event, known.status, known.opened_at, reason)


def _forgotten(
    request: OffsetEvent, known: GroupState | None, rules: GroupRules, knowledge: Knowledge
) -> Judged | Ended | Nothing:
    partitions = to_forget(request, known) if known else {}
    if known is None or not partitions:
        return Nothing()
    event = as_removal(partitions, request, known)
    updated, applied = updated_state(event, known, rules, known.applied.source_offset)
    updated = forget(partitions, updated)
    if updated.layout.topics:
        return _judged(event, known, updated, rules, applied, knowledge)
    unknown = replace(updated, status=Status.NOTFOUND, opened_at=None)
    return Ended(unknown, _incident_end(event, known, "group_forgotten"))


def _judged(
    event: OffsetEvent,
    known: GroupState | None,
    updated: GroupState,
    group_rules: GroupRules,
    rules: PartitionRules,
    knowledge: Knowledge,
) -> Judged:
    lag = lag_of(updated.latest, updated.steps)
    evidence = Evidence(
        updated.windows,
        least_lag_of(updated.latest, updated.windows, lag, updated.steps),
        event.observed_at,
        updated.track,
        Following(updated.windows.filled < rules.intervals, rules.grace_ms, doubt=rules.doubt),
    )
    partitions = judge_partitions(
        evidence,
        by_partition(rules.policies),
        intervals=rules.intervals,
        allowed_lag=rules.allowed_lag,
        minimum_complete=rules.minimum_complete,
    )
    partitions = told_beyond_end(partitions, evidence)
    partitions = told_in_turn(partitions, rules, updated, knowledge)
    partitions = told_nothing_left(partitions, updated, knowledge)
    group = judge_group(partitions, lag)
    onset, why = None, NONE
    if group.status is not Status.OK:
        before = lag_before(known, updated) if "progress" in rules.policies else None
        onset = onset_of(updated.windows, partitions.status, updated.onset)
        found = explain(
            evidence, partitions.status, rules.policies, rules.allowed_lag, onset, before
        )
        why = reasons(updated.layout, partitions.status, lag, found)
    since = opened_at(updated.opened_at, group.status, event.observed_at)
    state = replace(
        updated,
        status=group.status,
        opened_at=since,
        onset=onset,
        openings=openings(updated.openings, since),
        logs=None,
    )
    cause, late = None, None
    if onset is not None:
        late = knowledge.lateness_at(state.applied.observed_at)
        logs = logs_told(event, state.layout) if updated.logs is None else updated.logs
        cause = _cause(
            event,
            state,
            onset,
            logs,
            evidence,
            partitions,
            group,
            why,
            group_rules,
            knowledge.membership(),
            late,
        )
    change = None
    if group.status is not updated.status:
        began = updated.opened_at if since is None else since
        assert began is not None  # a status other than OK, before or now, has an incident
        change = status_change(
            event, state, updated.status, began, lag, partitions, group, why, cause, late
        )
    policy = group_rules.group.policy
    columns = LagColumns.of(state.latest, state.windows, lag, partitions)
    report = lag_event(event, state, columns, group, policy, why, cause)
    return Judged(state, report, change)


def _cause(
    event: OffsetEvent,
    state: GroupState,
    onset: Onset,
    logs: Int64,
    evidence: Evidence,
    partitions: PartitionVerdicts,
    group: GroupVerdict,
    why: Reasons,
    rules: GroupRules,
    membership: Membership | None,
    late: Lateness | None,
) -> Cause:
    facts = Facts(
        group=event.group,
        now_ms=state.applied.observed_at,
        layout=state.layout,
        status=partitions.status,
        counts=group.counts,
        lag=evidence.current_lag,
        latest=state.latest,
        windows=state.windows,
        track=state.track,
        onset=onset,
        bad=why.worst_first,
        presence=presence_of(event.group_state),
        membership=membership,
        lateness=late,
        logs=logs,
        log_ends_apart_ms=rules.group.log_ends_apart_ms,
        openings=state.openings,
    )
    return find_cause(facts)
