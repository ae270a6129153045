"""Cohorts: one event of each of many groups, judged at once in the same columns.

The judgement is that of `judge`, by the same functions, at a tenth of the cost for groups of ten
partitions. Of events of the past, of which there are many, what is said of each group is brief; of
those of now, groups that are and were OK are told of in full. Causes and explanations are left to
`judge`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from warren.contracts import Status
from warren.contracts.reason import ReasonName
from warren.errors import ContractViolation

from warren_core.evaluation import (
    Bools,
    Evidence,
    GroupRules,
    Int64,
    Onset,
    PartitionRules,
    PartitionVerdicts,
    Rules,
    Track,
    Windows,
    explain,
    inherit,
    onset_of,
)
from warren_core.evaluation.commit_convention import Commits
from warren_core.evaluation.packed_windows import pack_parts
from warren_core.evaluation.track import Mark
from warren_core.evaluation.verdicts import GroupVerdicts, are_expired, judge_groups
from warren_core.judgement import columns
from warren_core.judgement.brief import Brief, Entry
from warren_core.judgement.columns import Latest, Layout
from warren_core.judgement.judge import Judged
from warren_core.judgement.lag_events import LagColumns, lag_event
from warren_core.judgement.lags import lag_of, least_lag_of, made_only, settled, unknown_of
from warren_core.judgement.observation import Observation, assume, give_way, observe_together
from warren_core.judgement.state import (
    Applied,
    GroupState,
    Rows,
    only_kept,
    opened_at,
    openings,
    steps_of,
    unsure_of,
)
from warren_core.judgement.unsubscribed import may_be_left
from warren_core.judgement.update import (
    correct,
    forget_other_logs,
    insert,
    learn,
    learnt,
    remember_log_ends,
    shown,
    told_once,
)
from warren_core.judgement.verdict import bad_rows, by_rules, uncommitted

MOST_ROWS = 4_000
"""Partitions that are judged in one go: more do not fit into the processor's caches."""


def judge_together(entries: Sequence[Entry], rules: Rules) -> list[Brief | None]:
    """Of ordinary entries, of a group each, that have the same rules. None is for `judge`: where a
    group has expired, or is UNKNOWN in part, or its event is not to be believed.
    """
    found: list[Brief | None] = []
    for part in _small(entries):
        try:
            found += _Cohort(part, rules).judged()
        except ContractViolation:
            found += [None] * len(part)
    return found


def tell_together(entries: Sequence[Entry], rules: Rules) -> list[Judged | None]:
    """The same of groups that were OK. None is for `judge`, also where one is not OK any more, or
    may have left a topic.
    """
    found: list[Judged | None] = []
    for part in _small(entries):
        try:
            found += _Cohort(part, rules).told()
        except ContractViolation:
            found += [None] * len(part)
    return found


def _small(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    part: list[Entry] = []
    rows = 0
    for entry in entries:
        assert isinstance(entry.state, GroupState)
        part.append(entry)
        rows += len(entry.state.layout)
        if rows >= MOST_ROWS:
            yield part
            part, rows = [], 0
    if part:
        yield part


class _Cohort:
    """Rows of all groups' partitions, one group after the other."""

    def __init__(self, entries: Sequence[Entry], rules: Rules) -> None:
        """Raises ContractViolation."""
        self._events = [entry.event for entry in entries]
        self._states = [entry.state for entry in entries if isinstance(entry.state, GroupState)]
        self._offsets = [entry.source_offset for entry in entries]
        self._rules = rules
        counts = [state.windows.filled.size for state in self._states]
        self._group = np.repeat(np.arange(len(counts)), counts)
        self._parts = _slices(counts)
        self._starts = np.array([part.start for part in self._parts])
        self._now = np.array([event.observed_at for event in self._events])
        self._all = PartitionRules.of(GroupRules(rules), [("", len(self._group))])
        named = [sum(len(c.partition) for c in event.topics.values()) for event in self._events]
        self._named = _slices(named)
        """Of the observation, what each event says."""
        layouts = [state.layout for state in self._states]
        self._observation = observe_together(self._events, layouts, self._starts, named)

    def judged(self) -> list[Brief | None]:
        """In short."""
        found = self._judge()
        onset, reasons = self._reasons(found)
        rows = found.rows._replace(onset=onset)
        groups = found.groups
        briefs: list[Brief | None] = []
        for number, is_left in enumerate(self._is_for_judge(found)):
            if is_left:
                briefs.append(None)
                continue
            state = self._state(number, groups.status[number], found.commits[number], rows)
            briefs.append(
                Brief(
                    state,
                    self._states[number].status,
                    groups.complete[number],
                    groups.total_lag[number],
                    groups.bad_partitions[number],
                    reasons.get(number),
                )
            )
        return briefs

    def told(self) -> list[Judged | None]:
        """In full, of those that are OK."""
        found = self._judge()
        rows = found.rows
        all_ = LagColumns.of(rows, found.lag, found.verdicts)
        packed = pack_parts(made_only(rows.latest, rows.windows), self._parts)
        told: list[Judged | None] = []
        may_have_left = self._may_have_left(found)
        for number, is_left in enumerate(self._is_for_judge(found)):
            status = found.groups.status[number]
            if is_left or may_have_left[number] or status is not Status.OK:
                told.append(None)
                continue
            state = self._state(number, status, found.commits[number], rows)
            report = lag_event(
                self._events[number],
                state,
                all_,
                found.groups.of(number),
                self._rules.policy,
                windows=packed[number],
                first=self._parts[number].start,
            )
            told.append(Judged(state, report, None))
        return told

    def _judge(self) -> _Found:
        before = [state.commits for state in self._states]
        rows = Rows.joined(self._states)
        latest, windows, track, observation = (
            rows.latest,
            rows.windows,
            rows.track,
            self._observation,
        )
        observation = told_once(observation, latest)
        give_way(latest, windows, track, observation)
        latest[:, observation.rows] = observation.latest
        forget_other_logs(windows, observation)
        is_first = windows.filled[observation.rows] == 0
        remember_log_ends(windows, observation, self._rules)
        commits = self._learnt(before, windows)
        steps = self._by_row(steps_of, commits)
        observed = steps if isinstance(steps, int) else steps[observation.rows]
        insert(windows, observation, self._all, observed, is_first)
        seen = assume(windows, observation)
        if self._rules.policy != "progress":
            track = None
        if track is not None:
            self._learn(track, seen, commits, observed, latest[Latest.COMMITTED] < 0)
        observation = replace(observation, before=only_kept(rows.told))
        told = observation.told if columns.KEPT else None
        rows = rows._replace(track=track, told=told)
        stands = settled(latest, windows)
        lag = least_lag_of(latest, windows, lag_of(stands, steps), steps)
        is_open = np.array([state.opened_at is not None for state in self._states])
        pace = np.where(is_open, 0, self._all.grace_ms)[self._group]  # an end is not by a late look
        unknown = unknown_of(stands, windows, self._now[self._group], pace)
        evidence = self._evidence(rows, lag, observation)
        verdicts = by_rules(evidence, self._all)
        groups = judge_groups(verdicts, lag, unknown, self._starts)
        return _Found(rows, evidence, verdicts, groups, lag, commits)

    def _is_for_judge(self, found: _Found) -> Iterable[bool]:
        """Which groups have expired, or have partitions that are UNKNOWN."""
        windows = made_only(found.rows.latest, found.rows.windows)
        expired = are_expired(windows, self._starts, self._now, self._rules.expire_group_ms)
        both = zip(expired, found.groups.unknown, strict=True)
        return [is_over or unknown > 0 for is_over, unknown in both]

    def _may_have_left(self, found: _Found) -> list[bool]:
        """Which groups may have left a topic: their members tell."""
        rows = found.rows
        unread = may_be_left(rows.latest, rows.windows, found.lag, self._now[self._group])
        left: list[bool] = np.logical_or.reduceat(unread, self._starts).tolist()
        return left

    def _learn(
        self,
        track: Track,
        seen: Observation,
        commits: list[Commits],
        steps: Int64 | int,
        nobody: Bools,
    ) -> None:
        heirs = nobody | (track.marks[Mark.COMMITTED] < 0)
        unsure = np.where(nobody, 0, self._by_row(unsure_of, commits))
        learn(track, seen, self._all, steps, unsure)
        for number in np.unique(self._group[heirs]).tolist():
            start = self._parts[number].start
            for _, _, rows in self._states[number].layout.slices():
                inherit(track, heirs, slice(start + rows.start, start + rows.stop))

    def _learnt(self, before: list[Commits], windows: Windows) -> list[Commits]:
        """With what the events show of how their groups commit."""
        at_end, rests = shown(self._observation, windows)
        if not (at_end | rests).any():
            return before
        after = list(before)
        groups = self._group[self._observation.rows]
        for number in np.unique(groups[at_end | rests]).tolist():
            known, event, named = before[number], self._events[number], self._named[number]
            after[number] = learnt(known, event, at_end[named], rests[named])
            some = windows.part(self._parts[number])
            correct(some, self._states[number].layout, known, after[number])
        return after

    def _by_row(
        self, of: Callable[[Layout, Commits], Int64 | int], commits: Sequence[Commits]
    ) -> Int64 | int:
        """[partition], or 0 for all."""
        steps = [of(s.layout, c) for s, c in zip(self._states, commits, strict=True)]
        if all(isinstance(known, int) for known in steps):
            return 0
        return np.concatenate(
            [
                np.broadcast_to(known, len(s.layout))
                for s, known in zip(self._states, steps, strict=True)
            ]
        )

    def _evidence(self, rows: Rows, lag: Int64, observation: Observation) -> Evidence:
        never = uncommitted(rows.latest, rows.windows, observation, self._starts)
        return Evidence(rows.windows, lag, self._now[self._group], rows.track, never)

    def _reasons(self, found: _Found) -> tuple[Onset | None, dict[int, ReasonName]]:
        """Of partitions that are not OK, and why groups are not, by number."""
        evidence, status, lag = found.evidence, found.verdicts.status, found.lag
        worst_first = bad_rows(status, lag, self._group)
        if not len(worst_first):
            return None, {}
        onset = onset_of(evidence.windows, status, found.rows.onset)
        _, first = np.unique(self._group[worst_first], return_index=True)
        worst = worst_first[first]
        only = np.zeros_like(status)
        only[worst] = status[worst]
        why = explain(evidence, only, self._all.policies, self._all.allowed_lag, onset)
        return onset, {int(self._group[row]): why[row].reason for row in worst.tolist()}

    def _state(self, number: int, status: Status, commits: Commits, rows: Rows) -> GroupState:
        known, event = self._states[number], self._events[number]
        latest, windows, track, onset, told = rows.part(self._parts[number])
        since = opened_at(known.opened_at, status, event.observed_at)
        return GroupState(
            applied=Applied.by(event, self._offsets[number]),
            status=status,
            opened_at=since,
            layout=known.layout,
            latest=latest,
            windows=windows,
            track=track,
            commits=commits,
            onset=None if status is Status.OK else onset,
            openings=openings(known.openings, since),
            told=told,
        )


class _Found(NamedTuple):
    """What was judged, of all partitions; `groups` and `commits` by number."""

    rows: Rows  # after the events
    evidence: Evidence
    verdicts: PartitionVerdicts
    groups: GroupVerdicts
    lag: Int64
    commits: list[Commits]


def _slices(counts: Iterable[int]) -> list[slice]:
    """One after the other."""
    ends = list(accumulate(counts))
    return [slice(start, end) for start, end in pairwise([0, *ends])]
