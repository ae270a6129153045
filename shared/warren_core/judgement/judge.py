"""Judgement: an offset event and what is known of its group, in; what to remember and say, out.

Pure: takes "now" from the event and asks nobody anything. The way of an event is straight: it is
admitted, its observation goes into the state (`update`), the state gets a verdict (`verdict`), one
that is not OK a cause (`causes`), and both are told (`incidents`;
`lag_event` renders what is published).
"""

from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple, Self

from warren.contracts import (
    Cause,
    LagEvent,
    OffsetEvent,
    Status,
    StatusChangeEvent,
    TopicLag,
    TopicPositions,
    WindowEdge,
    group_name,
    partition_name,
)

from warren_core.evaluation import (
    UNKNOWN,
    Bools,
    Column,
    GroupRules,
    GroupSummary,
    Int64,
    PartitionVerdicts,
    Windows,
    is_expired,
    presence_of,
)
from warren_core.evaluation.packed_windows import pack
from warren_core.judgement.causes.catalogue import find_cause
from warren_core.judgement.columns import Latest, made_only
from warren_core.judgement.facts import Facts, Knowledge
from warren_core.judgement.incidents import incident, incident_ended, status_change, why_gone
from warren_core.judgement.observation import check_ranges
from warren_core.judgement.state import Applied, GroupGone, GroupState
from warren_core.judgement.update import Updated, updated_state
from warren_core.judgement.verdict import NONE, Reasons, verdict_on

_Columns = dict[str, list[Any]]


class LagColumns(NamedTuple):
    """What is told of partitions: lists by their names in the contract, an entry for each."""

    of_topics: _Columns
    start: _Columns
    end: _Columns

    @classmethod
    def of(cls, latest: Int64, windows: Windows, lag: Int64, verdicts: PartitionVerdicts) -> Self:
        """`windows`: of commits that were made."""
        empty = windows.filled == 0
        of_topics: _Columns = {column.field: latest[column].tolist() for column in Latest}
        of_topics["status"] = [partition_name(code) for code in verdicts.status.tolist()]
        of_topics["lag"] = _known(lag)
        of_topics["complete"] = verdicts.complete.tolist()
        return cls(of_topics, _edge(windows.oldest(), empty), _edge(windows.newest(), empty))


def lag_event(
    event: OffsetEvent,
    state: GroupState,
    columns: LagColumns,
    group: GroupSummary,
    policy: str,
    why: Reasons = NONE,
    cause: Cause | None = None,
    windows: str | None = None,
    first: int = 0,
) -> LagEvent:
    """The whole group, whatever part of it the event was about. Built without validation.

    `windows`: packed, where that was done. `first`: where the group's partitions begin in the
    columns.
    """
    reason: list[str | None] = [None] * len(state.layout)
    explanation = reason.copy()
    for row, found in why.by_row.items():
        reason[row], explanation[row] = found
    topics = {}
    for topic, partitions, own in state.layout.slices():
        rows = slice(first + own.start, first + own.stop)
        topics[topic] = TopicLag.model_construct(
            None,
            **_part(columns.of_topics, rows),
            partition=list(partitions),
            window_start=WindowEdge.model_construct(None, **_part(columns.start, rows)),
            window_end=WindowEdge.model_construct(None, **_part(columns.end, rows)),
            reason=reason[own],
            explanation=explanation[own],
        )
    return LagEvent.model_construct(
        cluster=event.cluster,
        group=event.group,
        evaluated_at=event.observed_at,
        position=event.position,
        status=group_name(state.status),
        is_known=group.is_known,
        unknown_partitions=group.unknown,
        complete=group.complete,
        policy=policy,
        total_lag=group.total_lag,
        reason=why.reason,
        explanation=why.explanation,
        cause=cause,
        topics=topics,
        last_processed=state.last_processed,
        windows=pack(made_only(state.latest, state.windows)) if windows is None else windows,
        incident=incident(event.cluster, event.group, state.opened_at),
    )


def _edge(commits: Int64, empty: Bools) -> _Columns:
    offset, at, observed_at = commits[: Column.LAG].tolist()
    lag = _known(commits[Column.LAG])
    for row in empty.nonzero()[0].tolist():
        offset[row] = at[row] = observed_at[row] = lag[row] = None
    return {"offset": offset, "at": at, "observed_at": observed_at, "lag": lag}


def _part(columns: _Columns, rows: slice) -> _Columns:
    return {name: values[rows] for name, values in columns.items()}


def _known(values: Int64) -> list[int | None]:
    """The values as a list, None for those that are UNKNOWN."""
    listed: list[int | None] = values.tolist()
    for row in (values == UNKNOWN).nonzero()[0].tolist():
        listed[row] = None
    return listed


def _forgotten(request: OffsetEvent, known: GroupState) -> tuple[OffsetEvent, GroupState] | None:
    """The request as an event that removes what it asks for, at the moment of the last one, and the
    state that remembers it; None where there is nothing to forget.
    """
    # Partitions, by topic, whose newest commit was observed before the request. Those with a newer
    # one were forgotten already and came back: the request is being replayed.
    is_old = known.windows.newest(Column.OBSERVED_AT) <= request.observed_at
    is_old |= known.latest[Latest.COMMITTED] < 0
    wanted = request.forget or known.layout.topics
    partitions = {
        topic: listed
        for topic, all_, rows in known.layout.slices()
        if topic in wanted and (listed := list(compress(all_, is_old[rows].tolist())))
    }
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
    """The event without what is still forgotten, and the state without what has committed; None
    where that leaves nothing to judge.
    """
    forgotten = dict(known.forgotten)
    topics: dict[str, TopicPositions] = {}
    for topic, positions in event.topics.items():
        counts = zip(positions.partition, positions.commits, strict=True)
        committed = (partition for partition, commits in counts if commits)
        hidden = forgotten.pop(topic, frozenset()).difference(committed)
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


def _without_positions(hidden: frozenset[int], positions: TopicPositions) -> TopicPositions:
    """The same without these partitions."""
    shown = [partition not in hidden for partition in positions.partition]
    lists = (each for each in positions if each[1] is not None)
    return positions.model_copy(
        update={name: list(compress(values, shown)) for name, values in lists}
    )


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
Outcome = Duplicate | Nothing | Taken | Judged | Ended


def judge(
    event: OffsetEvent,
    state: GroupState | GroupGone | None,
    rules: GroupRules,
    *,
    source_offset: int = UNKNOWN,
    knowledge: Knowledge = NOTHING_ELSE,
) -> Outcome:
    """`source_offset` is the event's offset in `warren.offsets`: of a group that is gone it is
    remembered. Raises ContractViolation.

    `knowledge`: what is known of the group beside its offsets.
    """
    check_ranges(event)
    known = state if isinstance(state, GroupState) else None
    forgets = event.forget is not None
    if not forgets:
        if state is not None and not state.applied.is_before(event):
            return Duplicate()
        known = known and known.followed_by(event)
    if forgets or (known is not None and known.forgotten and not event.deleted):
        of_known = _forgotten if forgets else _recalled
        counts = None if known is None else of_known(event, known)
        if counts is None:
            return Nothing()
        event, known = counts
    after: GroupGone | GroupState = GroupGone(Applied.by(event, source_offset))
    ends = why_gone(event, "group_deleted")
    if not event.deleted:
        updated = updated_state(event, known, rules)
        made = made_only(updated.state.latest, updated.state.windows)
        if forgets and not updated.state.layout.topics:
            ends = "group_forgotten"
            after = replace(updated.state, status=Status.NOTFOUND, opened_at=None)
        elif not forgets and event.part + 1 < event.parts:
            return Taken(updated.state)
        elif forgets or not is_expired(made, event.observed_at, rules.group.expire_group_ms):
            return _judged(event, known, updated, rules, knowledge)
        elif known is None:
            return Nothing()
        else:
            ends = "group_expired"
    return Ended(after, incident_ended(event, known, ends, knowledge.ownership))


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
    # Whether an incident was open of which nothing else is known.
    is_alone = known is not None and known.opened_at is not None and known.onset is None
    if is_alone and after.status is Status.OK and not before.goes_on:
        return Taken(before)
    cause = None
    if verdict.onset is not None:
        status, apart = verdict.partitions.status.copy(), sorted(verdict.unsubscribed)
        status[apart] = Status.OK  # what nobody is to read speaks for no other cause
        cause = find_cause(
            Facts(
                cluster=event.cluster,
                group=event.group,
                state=after,
                reported=updated.observation.reported,
                status=status,
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
    report = lag_event(event, after, columns, verdict.group, rules.group.policy, verdict.why, cause)
    return Judged(after, report, change)
