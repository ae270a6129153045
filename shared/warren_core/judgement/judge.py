"""Judgement: an offset event and what is known of its group, in; what to remember and say, out.

Pure: takes "now" from the event and asks nobody anything. The way of an event is straight: it is
admitted, its observation goes into the state (`update`), the state gets a verdict (`verdict`), one
that is not OK a cause (`causes`), and both are told (`lag_events`, `status_changes`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from warren.contracts import Cause, LagEvent, OffsetEvent, Status, StatusChangeEvent

from warren_core.evaluation import UNKNOWN, Column, GroupRules, is_expired, presence_of
from warren_core.judgement.causes.catalogue import find_cause
from warren_core.judgement.facts import Facts, Knowledge
from warren_core.judgement.forgetting import forgotten, recalled
from warren_core.judgement.lag_events import LagColumns, lag_event
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.observation import check_ranges
from warren_core.judgement.state import GroupGone, GroupState, Rows
from warren_core.judgement.status_changes import incident_ended, status_change
from warren_core.judgement.update import Updated, updated_state
from warren_core.judgement.verdict import Verdict, verdict_on


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


class _Admitted(NamedTuple):
    """An event that counts, and what counts of what was known. `forgets`: somebody asked to."""

    event: OffsetEvent
    known: GroupState | None
    source_offset: int
    forgets: bool = False


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
    admitted = _admit(event, state, source_offset)
    if not isinstance(admitted, _Admitted):
        return admitted
    event, known, source_offset, forgets = admitted
    updated = updated_state(event, known, rules, source_offset)
    if forgets and not updated.state.layout.topics:
        unknown = replace(updated.state, status=Status.NOTFOUND, opened_at=None)
        return Ended(unknown, incident_ended(event, known, "group_forgotten"))
    if not forgets and (more_follows or event.part + 1 < event.parts):
        return Taken(updated.state)
    if not forgets and is_expired(
        updated.state.windows, event.observed_at, rules.group.expire_group_ms
    ):
        if known is None:
            return Nothing()
        gone = GroupGone.by(event, source_offset)
        return Ended(gone, incident_ended(event, known, "group_expired"))
    verdict = verdict_on(updated, known, knowledge)
    after = updated.state.judged(verdict.group.status, verdict.onset)
    is_over = known is not None and known.is_incident_alone and after.status is Status.OK
    if is_over and not forgets and not _goes_on(updated.state):
        return Taken(updated.state)
    cause, late = None, None
    if verdict.onset is not None:
        late = knowledge.lateness_at(event.observed_at)
        cause = _cause(event, after, updated, verdict, rules, knowledge, late)
    columns = LagColumns.of(Rows.of(after), verdict.lag, verdict.partitions)
    policy = rules.group.policy
    report = lag_event(event, after, columns, verdict.group, policy, verdict.why, cause)
    change = status_change(event, updated.state, after, verdict, cause, late)
    return Judged(after, report, change)


def _admit(
    event: OffsetEvent, state: GroupState | GroupGone | None, source_offset: int
) -> _Admitted | Outcome:
    """Raises ContractViolation."""
    check_ranges(event)
    known = state if isinstance(state, GroupState) else None
    if event.forget is not None:
        request = forgotten(event, known) if known else None
        if request is None:
            return Nothing()
        return _Admitted(*request, request[1].applied.source_offset, forgets=True)
    if state is not None and not state.applied.is_before(event, source_offset):
        return Duplicate()
    known = known and known.followed_by(event)
    if event.deleted:
        change = incident_ended(event, known, "group_deleted")
        return Ended(GroupGone.by(event, source_offset), change)
    if known is not None and known.forgotten:
        event, known = recalled(event, known)
        if not known.layout.topics and not event.topics:
            return Nothing()
    return _Admitted(event, known, source_offset)


def _goes_on(state: GroupState) -> bool:
    """Whether all partitions have nothing left, or have gone on since anything is known of them."""
    windows = state.windows
    left = state.lag != 0  # unknown is not nothing
    advanced = windows.newest(Column.OFFSET) > windows.oldest(Column.OFFSET)
    goes_on = (windows.filled >= ENOUGH_COMMITS) & advanced
    return bool(np.all(goes_on | ~left | (windows.filled == 0)))


def _cause(
    event: OffsetEvent,
    state: GroupState,
    updated: Updated,
    verdict: Verdict,
    rules: GroupRules,
    knowledge: Knowledge,
    late: Lateness | None,
) -> Cause:
    told = updated.state.told
    if told is None:
        told = updated.observation.told(len(state.layout), None)
    facts = Facts(
        group=event.group,
        state=state,
        told=told,
        status=verdict.partitions.status,
        counts=verdict.group.counts,
        lag=verdict.least_lag,
        bad=verdict.why.worst_first,
        presence=presence_of(event.group_state),
        membership=knowledge.membership(),
        lateness=late,
        log_ends_apart_ms=rules.group.log_ends_apart_ms,
    )
    return find_cause(facts)
