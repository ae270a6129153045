"""Judgement: an offset event and what is known of its group, in; what to remember and say, out.

Pure: takes "now" from the event and asks nobody anything. The way of an event is straight: it is
admitted, its observation goes into the state (`update`), the state gets a verdict (`verdict`), one
that is not OK a cause (`causes`), and both are told (`incidents`, `lag_events`).
"""

from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

from warren.contracts import LagEvent, OffsetEvent, Status, StatusChangeEvent, TopicPositions

from warren_core.evaluation import UNKNOWN, Column, GroupRules, is_expired, presence_of
from warren_core.judgement.causes.catalogue import find_cause
from warren_core.judgement.columns import Latest
from warren_core.judgement.facts import Facts, Knowledge
from warren_core.judgement.incidents import incident_ended, status_change, why_gone
from warren_core.judgement.lag_events import LagColumns, lag_event
from warren_core.judgement.lags import made_only
from warren_core.judgement.observation import check_ranges
from warren_core.judgement.state import Applied, GroupGone, GroupState
from warren_core.judgement.update import Updated, updated_state
from warren_core.judgement.verdict import verdict_on


def heard(event: OffsetEvent, known: GroupState | None) -> tuple[OffsetEvent, GroupState] | None:
    """The event and what is known as far as they count: without what is forgotten, or will be by
    this request. None where that leaves nothing to judge; `known` has partitions to forget.
    """
    if known is None:
        return None
    return _forgotten(event, known) if event.forget is not None else _recalled(event, known)


def _forgotten(request: OffsetEvent, known: GroupState) -> tuple[OffsetEvent, GroupState] | None:
    """The request as an event that removes what it asks for, at the moment of the last one, and the
    state that remembers it; None where there is nothing to forget.
    """
    # Partitions, by topic, whose newest commit was observed before the request. Those with a newer
    # one were forgotten already and came back: the request is being replayed.
    is_old = known.windows.newest(Column.OBSERVED_AT) <= request.observed_at
    is_old |= known.latest[Latest.COMMITTED] < 0
    wanted = request.forget or known.layout.topics
    chosen = {
        topic: [p for p, old in zip(partitions, is_old[rows].tolist(), strict=True) if old]
        for topic, partitions, rows in known.layout.slices()
        if topic in wanted
    }
    partitions = {topic: partitions for topic, partitions in chosen.items() if partitions}
    if not partitions:
        return None
    event = OffsetEvent(
        cluster=request.cluster,
        group=request.group,
        source=known.applied.source,
        observed_at=known.applied.observed_at,
        position=known.applied.position,
        removed=partitions,
    )
    more = {
        topic: known.forgotten.get(topic, frozenset()).union(listed)
        for topic, listed in partitions.items()
    }
    return event, replace(known, forgotten={**known.forgotten, **more})


def _recalled(event: OffsetEvent, known: GroupState) -> tuple[OffsetEvent, GroupState] | None:
    """The event without what is still forgotten, and the state without what has committed."""
    forgotten = dict(known.forgotten)
    topics: dict[str, TopicPositions] = {}
    for topic, positions in event.topics.items():
        hidden = _without_commits(forgotten.pop(topic, frozenset()), positions)
        if hidden:
            forgotten[topic] = hidden
        shown = _without_positions(hidden, positions) if hidden else positions
        if not hidden or any(offset >= 0 for offset in shown.committed):
            topics[topic] = shown
    for topic, partitions in event.removed.items():
        if left := forgotten.pop(topic, frozenset()).difference(partitions):
            forgotten[topic] = left
    if not known.layout.topics and not topics:
        return None
    status = Status.OK if known.status is Status.NOTFOUND else known.status
    return (
        event.model_copy(update={"topics": topics}),
        replace(known, forgotten=forgotten, status=status),
    )


def _without_commits(hidden: frozenset[int], positions: TopicPositions) -> frozenset[int]:
    """Those that did not commit."""
    counts = zip(positions.partition, positions.commits, strict=True)
    return hidden.difference(partition for partition, commits in counts if commits)


def _without_positions(hidden: frozenset[int], positions: TopicPositions) -> TopicPositions:
    """The same without these partitions."""
    shown = [partition not in hidden for partition in positions.partition]
    columns = {name: values for name, values in positions if values is not None}
    kept = {name: list(compress(values, shown)) for name, values in columns.items()}
    return positions.model_copy(update=kept)


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
    """An event that counts, and what counts of what was known."""

    event: OffsetEvent
    known: GroupState | None
    source_offset: int


NOTHING_ELSE = Knowledge()
Outcome = Duplicate | Nothing | Taken | Judged | Ended


def judge(
    event: OffsetEvent,
    state: GroupState | GroupGone | None,
    rules: GroupRules,
    *,
    source_offset: int = UNKNOWN,
    knowledge: Knowledge = NOTHING_ELSE,
) -> Outcome:
    """`source_offset` is the event's offset in `warren.offsets`. Raises ContractViolation.

    `knowledge`: what is known of the group beside its offsets.
    """
    admitted = _admit(event, state, source_offset)
    if not isinstance(admitted, _Admitted):
        return admitted
    forgets = event.forget is not None
    event, known, source_offset = admitted
    after = None
    ends = why_gone(event, "group_deleted")
    if not event.deleted:
        updated = updated_state(event, known, rules, source_offset)
        if forgets and not updated.state.layout.topics:
            ends = "group_forgotten"
            after = replace(updated.state, status=Status.NOTFOUND, opened_at=None)
        elif not forgets and event.part + 1 < event.parts:
            return Taken(updated.state)
        elif not forgets and is_expired(
            made_only(updated.state.latest, updated.state.windows),
            event.observed_at,
            rules.group.expire_group_ms,
        ):
            if known is None:
                return Nothing()
            ends = "group_expired"
        else:
            return _judged(event, known, updated, rules, knowledge)
    return Ended(
        after or GroupGone(Applied.by(event, source_offset)),
        incident_ended(event, known, ends, knowledge.ownership),
    )


def _admit(
    event: OffsetEvent, state: GroupState | GroupGone | None, source_offset: int
) -> _Admitted | Outcome:
    """Raises ContractViolation."""
    check_ranges(event)
    known = state if isinstance(state, GroupState) else None
    if event.forget is None:
        if state is not None and not state.applied.is_before(event, source_offset):
            return Duplicate()
        known = known and known.followed_by(event)
        if event.deleted or known is None or not known.forgotten:
            return _Admitted(event, known, source_offset)
    elif known is not None:
        source_offset = known.applied.source_offset
    counts = heard(event, known)
    return Nothing() if counts is None else _Admitted(*counts, source_offset)


def _judged(
    event: OffsetEvent,
    known: GroupState | None,
    updated: Updated,
    rules: GroupRules,
    knowledge: Knowledge,
) -> Judged | Taken:
    verdict = verdict_on(updated, knowledge)
    before = updated.state
    after = before  # where nobody knows, what was known last stays, and so does an open incident
    if verdict.group.is_known:
        after = before.judged(verdict.group.status, verdict.onset)
    is_over = known is not None and known.is_incident_alone and after.status is Status.OK
    if is_over and not before.goes_on:
        return Taken(before)
    cause = None
    if verdict.onset is not None:
        status, apart = verdict.partitions.status, sorted(verdict.unsubscribed)
        counts = dict(verdict.group.counts)
        if apart:  # what nobody is to read speaks for no other cause
            status = status.copy()
            status[apart] = Status.OK
            counts[Status.WARN] -= len(apart)
            counts = {known: count for known, count in counts.items() if count}
        cause = find_cause(
            Facts(
                cluster=event.cluster,
                group=event.group,
                state=after,
                told=updated.observation.told,
                status=status,
                counts=counts,
                lag=verdict.least_lag,
                bad=[row for row in verdict.why.worst_first if row not in verdict.unsubscribed],
                unsubscribed=apart,
                presence=presence_of(event.group_state),
                membership=knowledge.membership(),
                lateness=verdict.late,
                log_ends_apart_ms=rules.group.log_ends_apart_ms,
            )
        )
    change = status_change(event, before, after, verdict, cause, knowledge.ownership, known)
    made = made_only(after.latest, after.windows)
    columns = LagColumns.of(after.latest, made, verdict.lag, verdict.partitions)
    policy = rules.group.policy
    report = lag_event(event, after, columns, verdict.group, policy, verdict.why, cause)
    return Judged(after, report, change)
