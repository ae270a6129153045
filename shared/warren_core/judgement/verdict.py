"""The verdict on a group: its partitions by the rules, then by what else is known, and the reasons.

What else is known takes a verdict back; it never makes one worse. A member that is behind reads on
in one partition first, and then in the next one: clients fetch much of a partition at once, and
offsets of their other partitions stand still meanwhile, or are committed again and again.
"""

from dataclasses import dataclass, replace

import numpy as np
from warren.contracts.status import Status, partition_name
from warren.words import duration, grouped

from warren_core.evaluation import (
    BY,
    OF_A_LAG,
    UNKNOWN,
    Began,
    Bools,
    Column,
    Evidence,
    Explanation,
    GroupVerdict,
    Int64,
    Mark,
    Onset,
    PartitionRules,
    PartitionVerdicts,
    Statuses,
    Uncommitted,
    Windows,
    by_partition,
    explain,
    judge_group,
    judge_partitions,
    onset_of,
    reads_a_burst,
    told_beyond_end,
    told_never_committed,
    usual_gap,
    waited_ms,
)
from warren_core.judgement.columns import MISSING, Latest, Layout, Reported, is_assumed
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.observation import Observation
from warren_core.judgement.owners_word import (
    IGNORED,
    run_missed,
    told_as_the_owner_expects,
)
from warren_core.judgement.state import GroupState
from warren_core.judgement.unsubscribed import (
    explained,
    left_alike,
    may_be_left,
    since_unsubscribed,
    told_unsubscribed,
)
from warren_core.judgement.update import Updated

LONGEST_TURN_MS = 5 * 60_000


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why partitions are not OK, not judged, or not known. `worst_first`: rows that are not OK."""

    by_row: dict[int, Explanation]
    worst_first: list[int]
    explanation: str | None  # of the group

    @property
    def reason(self) -> str | None:
        """Of the group: that of its worst partition; without one, why it is not known or judged."""
        if self.explanation is None:
            return None
        return self.by_row[next(iter(self.worst_first or self.by_row))].reason


NONE = Reasons({}, [], None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a group. `lag` is that of now, or of when a log end was told last, UNKNOWN
    where that is too long ago; `least_lag` what partitions are judged by.
    """

    partitions: PartitionVerdicts
    group: GroupVerdict
    lag: Int64
    least_lag: Int64
    onset: Onset | None = None  # where some partition is not OK, as what follows
    why: Reasons = NONE
    late: Lateness | None = None  # as far as it was measured lately
    unsubscribed: frozenset[int] = frozenset()  # rows of topics that no member subscribes to


def verdict_on(updated: Updated, knowledge: Knowledge) -> Verdict:
    state, rules = updated.state, updated.rules
    least_lag, now = state.least_lag, state.applied.observed_at
    in_vain, unknown = state.unknown(0), state.unknown(rules.grace_ms)
    lag = np.where(unknown, UNKNOWN, least_lag)
    never = uncommitted(state.latest, state.windows, updated.observation, np.zeros(1, np.int64))
    evidence = Evidence(state.windows, least_lag, now, state.track, never)
    partitions = by_rules(evidence, rules)
    late, not_judged = None, IGNORED
    if not (partitions.status == Status.OK).all():
        late = knowledge.lateness_at(now)
        if (alike := left_alike(knowledge.membership())) is not None:
            rules, not_judged = replace(rules, ignore=True), alike
        partitions = _told_in_turn(partitions, rules, state, knowledge)
        partitions = _told_nothing_left(partitions, state, late)
    unread = may_be_left(state.latest, state.windows, least_lag, now)
    unread |= np.isin(partitions.status, OF_A_LAG)
    unsubscribed = since_unsubscribed(state, unread, knowledge.membership)
    partitions = told_as_the_owner_expects(partitions, rules, state, least_lag, late)
    partitions = told_unsubscribed(partitions, state, unsubscribed)
    judged = np.logical_not(rules.ignore)
    in_vain, unknown = in_vain & judged, unknown & judged
    is_left = (unsubscribed != UNKNOWN) & (partitions.status != Status.OK)
    counted = np.where(is_left | rules.ignore, 0, least_lag)
    group = judge_group(partitions, counted, int(unknown.sum()))
    if state.opened_at is not None and group.status is Status.OK and in_vain.any():
        # What ended just now would do so by a log end that is late.
        unknown = in_vain
        group = replace(group, unknown=int(unknown.sum()))
    not_known = _not_known(state, unknown & (partitions.status == Status.OK))
    ignored = dict.fromkeys(rules.ignored_rows(len(lag)), not_judged)
    if group.status is Status.OK:
        is_all = 0 < len(ignored) == len(lag)
        said_of_all = not_judged.sentence if is_all else not_known.explanation
        why = Reasons(not_known.by_row | ignored, [], said_of_all)
        return Verdict(partitions, group, lag, least_lag, why=why)
    status, policies = partitions.status, rules.policies
    onset = onset_of(state.windows, status, state.onset)
    found = explain(evidence, status, policies, rules.allowed_lag, onset)
    left = np.flatnonzero(is_left).tolist()
    found |= {row: explained(state, row, int(unsubscribed[row]), int(lag[row])) for row in left}
    found |= run_missed(rules, state, status, least_lag)
    why = _reasons(state.layout, status, counted, found, not_known)
    why.by_row.update(ignored)
    return Verdict(partitions, group, lag, least_lag, onset, why, late, frozenset(left))


def by_rules(evidence: Evidence, rules: PartitionRules) -> PartitionVerdicts:
    """By the policies alone."""
    verdicts = judge_partitions(
        evidence,
        by_partition(rules.policies),
        intervals=rules.intervals,
        allowed_lag=rules.allowed_lag,
        minimum_complete=rules.minimum_complete,
    )
    return told_beyond_end(told_never_committed(verdicts, evidence), evidence)


def uncommitted(
    latest: Int64, windows: Windows, observation: Observation, starts: Int64
) -> Uncommitted | None:
    """None where the groups have committed all of their partitions, as mostly. `starts`: the first
    row of each group.
    """
    rows = is_assumed(latest, windows)
    if not rows.any():
        return None
    sizes = np.diff(starts, append=len(rows))
    commits = np.repeat(np.logical_or.reduceat(latest[Latest.COMMITTED] >= 0, starts), sizes)
    return Uncommitted(rows, observation.reported[Reported.OWNED] > 0, commits)


def bad_rows(status: Statuses, lag: Int64, group: Int64) -> Int64:
    """Rows that are not OK, the worst first: by status and then by lag; equal ones by topic and
    partition. `group`: [partition] the number of its group, which counts before all that.
    """
    rows = np.flatnonzero(status > Status.OK)
    worst: Int64 = rows[np.lexsort([rows, -lag[rows], -status[rows].astype(np.int64), group[rows]])]
    return worst


def _told_in_turn(
    verdicts: PartitionVerdicts, rules: PartitionRules, state: GroupState, knowledge: Knowledge
) -> PartitionVerdicts:
    """The verdicts of policy `progress` without STOP and STALL where the owner reads the backlog of
    another partition, for a while. Where nobody knows the owner it is told as ever. So is what has
    been told of the offset at which it stands: that it stands there ends when it goes on.
    """
    track = state.track
    standing = (verdicts.status == Status.STOP) | (verdicts.status == Status.STALL)
    if track is None or not standing.any():
        return verdicts
    standing &= rules.policies["progress"]
    now = state.applied.observed_at
    # [partition] its offset has advanced lately.
    marks, figures = track.marks, track.figures
    recent = np.maximum(usual_gap(marks, figures), BY.least_wait)
    more = (marks[Mark.PEAK] > 0) | reads_a_burst(track)
    reading = (
        (marks[Mark.ADVANCED_AT] >= 0) & (now - marks[Mark.ADVANCED_AT] <= recent)
    ) & ~standing
    standing &= (waited_ms(track, now) <= LONGEST_TURN_MS) & ~_was_told(state)
    if not (standing.any() and reading.any()):
        return verdicts
    group = knowledge.membership()
    if group is None:
        return verdicts
    owner = np.array([group.owners.get(name, -1) for name in state.layout.names()])
    # [partition] more is read than what comes.
    takes_turns = np.isin(owner, owner[reading & more])
    waits = standing & (owner >= 0) & takes_turns
    behind = np.where(track.marks[Mark.ALARM] > 0, np.uint8(Status.WARN), np.uint8(Status.OK))
    return replace(verdicts, status=np.where(waits, behind, verdicts.status))


def _was_told(state: GroupState) -> Bools:
    """[partition] an incident is open, and it was not OK at this offset, but for having gone back
    to it.
    """
    known, offset = state.onset, state.windows.newest(Column.OFFSET)
    if known is None or state.status is not Status.ERR:
        return np.zeros(len(offset), np.bool_)
    was_said: Bools = known.was_bad & (known.marks[Began.OFFSET] == offset)
    was_said &= known.marks[Began.REWOUND_FROM] == UNKNOWN
    return was_said


def _told_nothing_left(
    verdicts: PartitionVerdicts, state: GroupState, late: Lateness | None
) -> PartitionVerdicts:
    """The verdicts with OK where freshness found no record at or after the committed offset.

    The end of a transaction lies behind its last record, and nobody reads it: a client that commits
    the offset after the record that it has processed rests one before the log end there, and the
    rules see a lag that never goes away. Who has read the log knows better.
    """
    status = verdicts.status.copy()
    for topic, partition, committed in () if late is None else late.nothing_left:
        (row,) = state.layout.rows(topic, [partition])
        is_there = row != MISSING and state.latest[Latest.COMMITTED, row] == committed
        if is_there and status[row] in OF_A_LAG:
            status[row] = Status.OK
    return replace(verdicts, status=status)


def _reasons(
    layout: Layout,
    status: Statuses,
    lag: Int64,
    by_row: dict[int, Explanation],
    not_known: Reasons,
) -> Reasons:
    worst_first: list[int] = bad_rows(status, lag, np.zeros_like(lag)).tolist()
    worst = worst_first[0]
    more = len(worst_first) - 1
    others = f"; {grouped(more)} more {'is' if more == 1 else 'are'} not OK" if more else ""
    bad = partition_name(int(status[worst]))
    said = f"{layout.label(worst)} {bad}: {by_row[worst].sentence}"
    return Reasons(by_row | not_known.by_row, worst_first, said + others)


def _not_known(state: GroupState, rows: Bools) -> Reasons:
    """Why partitions are UNKNOWN: these, that nothing bad is known of."""
    found = np.flatnonzero(rows).tolist()
    if not found:
        return NONE
    silent_ms = (state.applied.observed_at - state.windows.log_ends_at[found]).tolist()
    by_row = {
        row: Explanation(
            "log_end_unknown", f"nobody has said for {duration(silent)} where its log ends"
        )
        for row, silent in zip(found, silent_ms, strict=True)
    }
    more = f"; {grouped(len(found) - 1)} more UNKNOWN" if len(found) > 1 else ""
    return Reasons(
        by_row, [], f"{state.layout.label(found[0])} UNKNOWN: {by_row[found[0]].sentence}{more}"
    )
