"""Cohorts: one event of each of many groups, judged at once in the same columns.

The judgement is that of `judge`, by the same functions, at a tenth of the cost for groups of ten
partitions. Of events of the past, of which there are many, what is said of each group is brief; of
those of now, groups that are and were OK are told of in full. Causes and explanations are left to
`judge`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, groupby
from operator import itemgetter
from typing import NamedTuple, TypeVar

import numpy as np
from warren.contracts import OffsetEvent, ReasonName, Status
from warren.errors import ContractViolation
from warren.words import LATEST_MOMENT

from warren_core.evaluation import (
    Commits,
    Evidence,
    GroupRules,
    GroupVerdicts,
    Int64,
    Onset,
    PartitionRules,
    PartitionVerdicts,
    Rules,
    are_expired,
    explain,
    judge_groups,
    onset_of,
)
from warren_core.evaluation.packed_windows import pack_parts
from warren_core.judgement.columns import (
    lag_of,
    least_lag_of,
    left_out,
    made_only,
    settled,
    unknown_of,
)
from warren_core.judgement.judge import Judged, LagColumns, lag_event
from warren_core.judgement.observation import Observed, observe, observed
from warren_core.judgement.state import Applied, GroupGone, GroupState, Rows
from warren_core.judgement.unsubscribed import may_be_left
from warren_core.judgement.update import take_in
from warren_core.judgement.verdict import bad_rows, by_rules, uncommitted

MOST_ROWS = 4_000
"""Partitions that are judged in one go: more do not fit into the processor's caches."""
Said = TypeVar("Said")


class Entry(NamedTuple):
    """An event, and what is known of its group."""

    event: OffsetEvent
    state: GroupState | GroupGone | None


class Brief(NamedTuple):
    """What was said of a group, but for its partitions, and what is to be remembered of it."""

    state: GroupState
    previous: Status
    complete: float
    total_lag: int
    bad_partitions: int
    reason: str | None
    """Of the worst partition; None when OK."""

    @property
    def status(self) -> Status:
        return self.state.status

    @classmethod
    def of(cls, judged: Judged, previous: Status) -> Brief:
        lag = judged.lag
        statuses = chain.from_iterable(topic.status for topic in lag.topics.values())
        bad = sum(status != Status.OK.name for status in statuses)
        return cls(judged.state, previous, lag.complete, lag.total_lag, bad, lag.reason)


def is_ordinary(entry: Entry, rules: GroupRules) -> bool:
    """Whether a cohort may have it: the event tells where known partitions stand, and no more."""
    event, state = entry.event, entry.state
    if not isinstance(state, GroupState):
        return False
    says_more = event.deleted or event.removed or event.earlier or event.forget is not None
    is_in_range = event.position < 2**63 and 0 <= event.observed_at <= LATEST_MOMENT
    has_track = state.track is not None or rules.group.policy != "progress"
    if not (
        rules.same_for_all_topics
        and not rules.group.has_owners_word
        and has_track
        and state.windows.intervals == rules.group.intervals
        and state.layout.topics
        and not state.forgotten
        and event.parts == 1
        and not says_more
        and is_in_range
        and state.applied.is_before(event)
        and state.applied.shares_order_with(event)
    ):
        return False
    has = state.layout.has
    for topic, columns in event.topics.items():  # a generator takes twice as long
        if not has(topic, columns.partition):
            return False
    return not left_out(event, state.latest, state.layout)


def judge_together(entries: Sequence[Entry], rules: Rules) -> list[Brief | None]:
    """Of ordinary entries, of a group each, that have the same rules. None is for `judge`: where a
    group has expired, or is UNKNOWN in part, or its event is not to be believed.
    """
    return _together(entries, rules, _briefs)


def tell_together(entries: Sequence[Entry], rules: Rules) -> list[Judged | None]:
    """The same of groups that were OK. None is for `judge`, also where one is not OK any more, or
    may have left a topic.
    """
    return _together(entries, rules, _reports)


def _together(
    entries: Sequence[Entry], rules: Rules, say: Callable[[_Cohort], list[Said | None]]
) -> list[Said | None]:
    said: list[Said | None] = []
    for part in _small(entries):
        try:
            said += say(_judged(part, rules))
        except ContractViolation:
            said += [None] * len(part)
    return said


def _small(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Entries that may be judged in one go."""
    sizes = (len(each.state.layout) for each in entries if isinstance(each.state, GroupState))
    numbers = (row // MOST_ROWS for row in accumulate(sizes))
    for _, part in groupby(zip(numbers, entries, strict=True), itemgetter(0)):
        yield [entry for _, entry in part]


class _Cohort(NamedTuple):
    """What was judged: rows of all groups' partitions, one group after the other. From `entries` on
    all are by number of the group.
    """

    rules: PartitionRules
    policy: str
    rows: Rows  # after the events
    number: Int64  # [partition] of its group
    evidence: Evidence
    verdicts: PartitionVerdicts
    entries: Sequence[Entry]
    groups: list[Observed]
    verdict: GroupVerdicts
    commits: list[Commits]
    is_left: list[bool]  # to `judge`: it has expired, or has partitions that are UNKNOWN

    def state(self, number: int, rows: Rows) -> GroupState:
        event, known, own, _ = self.groups[number]
        status = self.verdict.status[number]
        latest, windows, track, onset, _ = rows.part(own)
        opened_at, openings = known.incidents_after(status, event.observed_at)
        return GroupState(
            applied=Applied.by(event),
            status=status,
            opened_at=opened_at,
            layout=known.layout,
            latest=latest,
            windows=windows,
            track=track,
            commits=self.commits[number],
            onset=None if status is Status.OK else onset,
            openings=openings,
        )


def _judged(entries: Sequence[Entry], rules: Rules) -> _Cohort:
    """Raises ContractViolation."""
    states = [entry.state for entry in entries if isinstance(entry.state, GroupState)]
    groups = observed([entry.event for entry in entries], states)
    starts = np.array([group.rows.start for group in groups])
    number = np.repeat(np.arange(len(groups)), np.diff(starts, append=groups[-1].rows.stop))
    of_rows = PartitionRules.of(GroupRules(rules), [("", len(number))])
    rows = Rows.joined(states)
    if rules.policy != "progress":
        rows = rows._replace(track=None)
    latest, windows = rows.latest, rows.windows
    observation = observe(groups)
    commits, steps = take_in(rows, groups, observation, of_rows, rules.log_ends_apart_ms)
    now = np.array([group.event.observed_at for group in groups])
    stands = settled(latest, windows)
    lag = least_lag_of(latest, windows, lag_of(stands, steps), steps)
    is_open = np.array([state.opened_at is not None for state in states])
    pace = np.where(is_open, 0, of_rows.grace_ms)  # an end is not by a late look
    unknown = unknown_of(stands, windows, now[number], pace[number])
    never = uncommitted(latest, windows, observation, starts)
    evidence = Evidence(windows, lag, now[number], rows.track, never)
    verdicts = by_rules(evidence, of_rows)
    verdict = judge_groups(verdicts, lag, unknown, starts)
    expired = are_expired(made_only(latest, windows), starts, now, rules.expire_group_ms)
    is_left = [over or some > 0 for over, some in zip(expired, verdict.unknown, strict=True)]
    return _Cohort(
        rules=of_rows,
        policy=rules.policy,
        rows=rows,
        number=number,
        evidence=evidence,
        verdicts=verdicts,
        entries=entries,
        groups=groups,
        verdict=verdict,
        commits=commits,
        is_left=is_left,
    )


def _briefs(cohort: _Cohort) -> list[Brief | None]:
    """In short."""
    onset, reasons = _reasons(cohort)
    rows, verdict = cohort.rows._replace(onset=onset), cohort.verdict
    return [
        None
        if is_left
        else Brief(
            cohort.state(number, rows),
            cohort.groups[number].state.status,
            verdict.complete[number],
            verdict.total_lag[number],
            verdict.bad_partitions[number],
            reasons.get(number),
        )
        for number, is_left in enumerate(cohort.is_left)
    ]


def _reasons(cohort: _Cohort) -> tuple[Onset | None, dict[int, ReasonName]]:
    """Of partitions that are not OK, and why groups are not, by number."""
    evidence, status, rules = cohort.evidence, cohort.verdicts.status, cohort.rules
    worst_first = bad_rows(status, evidence.current_lag, cohort.number)
    if not len(worst_first):
        return None, {}
    onset = onset_of(evidence.windows, status, cohort.rows.onset)
    _, first = np.unique(cohort.number[worst_first], return_index=True)
    worst = worst_first[first]
    only = np.zeros_like(status)
    only[worst] = status[worst]
    why = explain(evidence, only, rules.policies, rules.allowed_lag, onset)
    return onset, {int(cohort.number[row]): why[row].reason for row in worst.tolist()}


def _reports(cohort: _Cohort) -> list[Judged | None]:
    """In full, of those that are OK."""
    rows, verdict, lag = cohort.rows, cohort.verdict, cohort.evidence.current_lag
    made = made_only(rows.latest, rows.windows)
    columns = LagColumns.of(rows.latest, made, lag, cohort.verdicts)
    packed = pack_parts(made, [group.rows for group in cohort.groups])
    unread = may_be_left(rows.latest, rows.windows, lag, cohort.evidence.now_ms)
    may_have_left = np.logical_or.reduceat(unread, [group.rows.start for group in cohort.groups])
    found: list[Judged | None] = []
    for number, (event, _, own, _) in enumerate(cohort.groups):
        is_ok = verdict.status[number] is Status.OK and not cohort.is_left[number]
        if not is_ok or may_have_left[number]:
            found.append(None)
            continue
        state, group = cohort.state(number, rows), verdict.of(number)
        report = lag_event(
            event,
            state,
            columns,
            group,
            cohort.policy,
            windows=packed[number],
            first=own.start,
        )
        found.append(Judged(state, report, None))
    return found
