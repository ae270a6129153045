"""Cohorts: one event of each of many groups, judged at once in the same columns.

The judgement is that of `judge`, by the same functions, at a tenth of the cost for groups of ten
partitions. Of events of the past, of which there are many, what is said of each group is brief; of
those of now, groups that are and were OK are told of in full. Causes and explanations are left to
`judge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from warren.contracts import Status
from warren.contracts.reason import ReasonName
from warren.errors import ContractViolation

from warren_core.evaluation import (
    UNKNOWN,
    Began,
    Evidence,
    Following,
    GroupRules,
    Int64,
    Onset,
    PartitionRules,
    PartitionVerdicts,
    Rules,
    Track,
    Windows,
    by_partition,
    explain,
    judge_partitions,
    onset_of,
    told_beyond_end,
)
from warren_core.evaluation.commit_convention import Commits, last_processed
from warren_core.evaluation.packed_windows import pack_parts
from warren_core.evaluation.verdicts import GroupVerdicts, are_expired, judge_groups
from warren_core.judgement.brief import Brief
from warren_core.judgement.commits import correct, learnt, shown
from warren_core.judgement.entry import Entry
from warren_core.judgement.incidents import opened_at, openings
from warren_core.judgement.joint_observation import observe_together
from warren_core.judgement.judge import Judged
from warren_core.judgement.lag_events import LagColumns, lag_event
from warren_core.judgement.lags import lag_of, least_lag_of
from warren_core.judgement.reasons import bad_rows
from warren_core.judgement.state import Applied, GroupState
from warren_core.judgement.update import forget_other_logs, insert, learn, remember_log_ends

MOST_ROWS = 20_000
"""Partitions that are judged in one go: more do not fit into the processor's caches."""


def judge_together(entries: Sequence[Entry], rules: Rules) -> list[Brief | None]:
    """Of ordinary entries, of a group each, that have the same rules. None is for `judge`: where a
    group has expired, or its event is not to be believed.
    """
    found: list[Brief | None] = []
    for part in _small(entries):
        try:
            found += _Cohort(part, rules).judged()
        except (OverflowError, ContractViolation):
            found += [None] * len(part)
    return found


def tell_together(entries: Sequence[Entry], rules: Rules) -> list[Judged | None]:
    """The same of groups that were OK. None is for `judge`, also where one is not OK any more."""
    found: list[Judged | None] = []
    for part in _small(entries):
        try:
            found += _Cohort(part, rules).told()
        except (OverflowError, ContractViolation):
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
        """Raises ContractViolation or OverflowError."""
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
        columns = _Columns(found.latest, found.evidence.windows, found.evidence.track, onset)
        groups = found.groups
        briefs: list[Brief | None] = []
        for number, is_over in enumerate(self._expired(found)):
            if is_over:
                briefs.append(None)
                continue
            state = self._state(number, groups.status[number], found.commits[number], columns)
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
        columns = _Columns(found.latest, found.evidence.windows, found.evidence.track, None)
        all_ = LagColumns.of(found.latest, columns.windows, found.lag, found.verdicts)
        packed = pack_parts(columns.windows, self._parts)
        told: list[Judged | None] = []
        for number, is_over in enumerate(self._expired(found)):
            status = found.groups.status[number]
            if is_over or status is not Status.OK:
                told.append(None)
                continue
            state = self._state(number, status, found.commits[number], columns)
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
        commits = [state.commits for state in self._states]
        latest = np.concatenate([state.latest for state in self._states], axis=1)
        lag_before = lag_of(latest, self._steps(commits))
        windows = Windows.joined([state.windows for state in self._states])
        observation = self._observation
        latest[:, observation.rows] = observation.latest
        forget_other_logs(windows, observation)
        is_first = windows.filled[observation.rows] == 0
        remember_log_ends(windows, observation, self._rules)
        commits = self._learnt(commits, windows)
        steps = self._steps(commits)
        observed = steps if isinstance(steps, int) else steps[observation.rows]
        insert(windows, observation, self._all, observed, is_first)
        track = self._track()
        if track is not None:
            learn(track, observation, self._all, observed)
        lag = lag_of(latest, steps)
        evidence = self._evidence(windows, track, least_lag_of(latest, windows, lag, steps))
        verdicts = judge_partitions(
            evidence,
            by_partition(self._all.policies),
            intervals=self._all.intervals,
            allowed_lag=self._all.allowed_lag,
            minimum_complete=self._all.minimum_complete,
        )
        verdicts = told_beyond_end(verdicts, evidence)
        groups = judge_groups(verdicts, lag, self._starts)
        return _Found(latest, evidence, verdicts, groups, lag, lag_before, commits)

    def _expired(self, found: _Found) -> Iterable[bool]:
        windows = found.evidence.windows
        return are_expired(windows, self._starts, self._now, self._rules.expire_group_ms)

    def _track(self) -> Track | None:
        if self._rules.policy != "progress":
            return None
        tracks = [state.track for state in self._states if state.track is not None]
        marks = np.concatenate([track.marks for track in tracks], axis=1)
        return Track(marks, np.concatenate([track.figures for track in tracks], axis=1))

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

    def _steps(self, commits: Sequence[Commits]) -> Int64 | int:
        """[partition], or 0 for all."""
        last = [last_processed(known) if known else [] for known in commits]
        if not any(last):
            return 0
        marks = [s.layout.marked(topics) for s, topics in zip(self._states, last, strict=True)]
        return np.concatenate(marks)

    def _evidence(self, windows: Windows, track: Track | None, lag: Int64) -> Evidence:
        is_filling = windows.filled < self._all.intervals
        following = Following(is_filling, self._all.grace_ms, self._group, self._all.doubt)
        return Evidence(windows, lag, self._now[self._group], track, following)

    def _reasons(self, found: _Found) -> tuple[Onset | None, dict[int, ReasonName]]:
        """Of partitions that are not OK, and why groups are not, by number."""
        evidence, status, lag = found.evidence, found.verdicts.status, found.lag
        worst_first = bad_rows(status, lag, self._group)
        if not len(worst_first):
            return None, {}
        onset = onset_of(evidence.windows, status, self._onset())
        _, first = np.unique(self._group[worst_first], return_index=True)
        worst = worst_first[first]
        only = np.zeros_like(status)
        only[worst] = status[worst]
        policies = self._all.policies
        before = found.lag_before if "progress" in policies else None
        why = explain(evidence, only, policies, self._all.allowed_lag, onset, before)
        return onset, {int(self._group[row]): why[row].reason for row in worst.tolist()}

    def _onset(self) -> Onset | None:
        """What was remembered."""
        if all(state.onset is None for state in self._states):
            return None
        marks = np.full((len(Began), len(self._group)), UNKNOWN, np.int64)
        for part, state in zip(self._parts, self._states, strict=True):
            if state.onset is not None:
                marks[:, part] = state.onset.marks
        return Onset(marks)

    def _state(
        self, number: int, status: Status, commits: Commits, columns: _Columns
    ) -> GroupState:
        known, event, part = self._states[number], self._events[number], self._parts[number]
        since = opened_at(known.opened_at, status, event.observed_at)
        track, onset = columns.track, columns.onset
        if status is Status.OK:
            onset = None
        return GroupState(
            applied=Applied.by(event, self._offsets[number]),
            status=status,
            opened_at=since,
            layout=known.layout,
            latest=columns.latest[:, part],
            windows=columns.windows.part(part),
            track=None if track is None else Track(track.marks[:, part], track.figures[:, part]),
            commits=commits,
            onset=None if onset is None else Onset(onset.marks[:, part]),
            openings=openings(known.openings, since),
        )


class _Found(NamedTuple):
    """What was judged, of all partitions; `groups` and `commits` by number."""

    latest: Int64
    evidence: Evidence
    verdicts: PartitionVerdicts
    groups: GroupVerdicts
    lag: Int64
    lag_before: Int64
    commits: list[Commits]


class _Columns(NamedTuple):
    """Of all partitions, after the events."""

    latest: Int64
    windows: Windows
    track: Track | None
    onset: Onset | None


def _slices(counts: Iterable[int]) -> list[slice]:
    """One after the other."""
    ends = list(accumulate(counts))
    return [slice(start, end) for start, end in pairwise([0, *ends])]
