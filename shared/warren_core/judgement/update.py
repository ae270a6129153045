"""The update of a group's state by what an event observed: partitions, windows, track."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from warren.contracts import EarlierPositions, OffsetEvent
from warren.errors import ContractViolation

from warren_core.evaluation import (
    MAX_TIME,
    REST_MS,
    UNKNOWN,
    Bools,
    Column,
    CommitEvidence,
    Commits,
    GroupRules,
    Int64,
    Mark,
    PartitionRules,
    Presence,
    Rest,
    Sighting,
    Track,
    Windows,
    expect,
    inherit,
    last_processed,
    of_rows,
    see,
)
from warren_core.judgement.columns import MISSING, Latest, left_out
from warren_core.judgement.observation import (
    Observation,
    Observed,
    assume,
    give_way,
    observe,
    observed,
    order_of,
)
from warren_core.judgement.state import Applied, GroupState, Rows

APART_MS = 10_000
"""Between two of the log ends that an event tells of before: as the contract says, and Burrow."""


class Updated(NamedTuple):
    """A state with an event's observation in it, and the rules by its rows."""

    state: GroupState
    rules: PartitionRules
    observation: Observation


def updated_state(event: OffsetEvent, known: GroupState | None, rules: GroupRules) -> Updated:
    """Partitions that the event does not name stay. Raises ContractViolation."""
    old = known or GroupState.new(Applied.by(event))
    if gone := left_out(event, old.latest, old.layout):
        event = event.model_copy(update={"removed": {**gone, **event.removed}})
    state, of_rows = old.grown(event, rules)
    groups = observed([event], [state])
    observation = observe(groups, state.reported)
    (commits,), _ = take_in(
        Rows.of(state), groups, observation, of_rows, rules.group.log_ends_apart_ms
    )
    reported = observation.reported if event.part + 1 < event.parts else None
    return Updated(
        replace(state, applied=Applied.by(event), commits=commits, reported=reported),
        of_rows,
        observation,
    )


def take_in(
    into: Rows,
    groups: Sequence[Observed],
    observation: Observation,
    rules: PartitionRules,
    apart_ms: int,
) -> tuple[list[Commits], Int64]:
    """Take an observation of these groups into their columns, in place. `apart_ms`: between two log
    ends that windows remember.

    How each group commits then, and [partition] the steps from the committed offsets to those that
    are read next. Raises ContractViolation.
    """
    latest, windows, track, rows = into.latest, into.windows, into.track, observation.rows
    # A collector that starts again reads what it had read: commits told before do not count.
    which = [Latest.COMMITTED, Latest.COMMITTED_AT]
    again = (latest[which][:, rows] == observation.latest[which]).all(axis=0)
    observation = replace(observation, commits=np.where(again, 0, observation.commits))
    give_way(latest, windows, track, observation)
    latest[:, rows] = observation.latest
    forget_other_logs(windows, observation)
    is_first = windows.filled[rows] == 0
    for group in groups:
        if group.event.earlier:
            _recall(group, latest[:, group.rows], windows.part(group.rows), apart_ms)
    windows.remember_log_ends(rows, observation.latest[Latest.LOG_END], observation.at, apart_ms)
    commits = _learnt(groups, observation, windows)
    steps = _in_topics(groups, map(last_processed, commits))
    insert(windows, observation, rules, steps[rows], is_first)
    seen = assume(windows, observation)
    if track is not None:
        _learn(into, track, groups, seen, rules, steps, commits)
    return commits, steps


def _in_topics(groups: Sequence[Observed], topics: Iterable[Collection[str]]) -> Int64:
    """[partition] 1 in these topics of each group, 0 in all others."""
    marks = np.zeros(groups[-1].rows.stop, np.int64)
    for group, some in zip(groups, topics, strict=True):
        if some:
            marks[group.rows] = group.state.layout.marked(some)
    return marks


def forget_other_logs(windows: Windows, observation: Observation) -> None:
    """A log end goes back only where a topic was made anew, or its log was truncated: where the log
    of before ended, and what was committed beyond this one, says nothing of it.
    """
    rows, log_end = observation.rows, observation.latest[Latest.LOG_END]
    back = (log_end >= 0) & (log_end < windows.log_ends[rows, -1])
    if back.any():
        windows.forget_log_ends(rows[back])
        windows.clear_commits(rows[back & (windows.newest(Column.OFFSET)[rows] > log_end)])


def insert(
    windows: Windows,
    observation: Observation,
    rules: PartitionRules,
    steps: Int64,
    is_first: Bools,
) -> None:
    """Commits into their windows. `is_first`: [N] nothing was known of the partition's but what the
    event may tell of earlier. `steps`: of these partitions.
    """
    rows, latest = observation.rows, observation.latest
    committed, committed_at, log_end = latest[
        [Latest.COMMITTED, Latest.COMMITTED_AT, Latest.LOG_END]
    ]
    # Where the newest is beyond the log end, and this one is not, the group was never there: it has
    # not gone back.
    elsewhere = windows.newest(Column.OFFSET)[rows] > log_end
    elsewhere &= (committed >= 0) & (committed <= log_end)
    if elsewhere.any():  # hardly ever
        windows.clear_commits(rows[elsewhere])
        is_first = is_first | elsewhere
    lag = lag_of_commits(latest, windows.log_ends[rows, -2], steps)
    differs = (committed != windows.newest(Column.OFFSET)[rows]) | (
        committed_at != windows.newest(Column.COMMITTED_AT)[rows]
    )
    moved = (committed >= 0) & (is_first | ((observation.commits > 0) & differs))
    # As `Column` has them.
    commits = np.array([committed, committed_at, observation.at, lag, observation.order])[:, moved]
    into = rows[moved]
    slots = None if isinstance(rules.intervals, int) else rules.intervals[into]
    windows.insert(into, commits, of_rows(rules.min_distance_ms, into), slots)
    if not isinstance(rules.intervals, int):
        windows.limit(rules.intervals)


def lag_of_commits(latest: Int64, log_end_before: Int64, steps: Int64) -> Int64:
    """The lag as Burrow has it, whatever was deleted, but 0 where a commit reached the log end
    remembered before the newest.

    That is 5 or 10 s old by default, as Burrow's is 10 s at most when it takes a commit in: a
    consumer that keeps up with a steady producer is not behind, although there always is something
    new when one looks.
    """
    committed, log_end = latest[[Latest.COMMITTED, Latest.LOG_END]]
    next_offset = committed + steps
    caught_up = (log_end_before != UNKNOWN) & (next_offset >= log_end_before)
    lag = np.where(caught_up, 0, np.maximum(log_end - next_offset, 0))
    return np.where((committed >= 0) & (log_end >= 0), lag, UNKNOWN)


def _learn(
    into: Rows,
    track: Track,
    groups: Sequence[Observed],
    observation: Observation,
    rules: PartitionRules,
    steps: Int64,
    commits: Sequence[Commits],
) -> None:
    latest, rows = observation.latest, observation.rows
    nobody = into.latest[Latest.COMMITTED] < 0
    heirs = nobody | (track.marks[Mark.COMMITTED] < 0)
    # One record may be left on purpose where nobody knows yet what is committed. Where nobody is
    # known to be there, nobody may read that record, whatever it is.
    unsure = (
        [t for t in group.state.layout.topics if t not in how or how[t].convention is None]
        for group, how in zip(groups, commits, strict=True)
    )
    there = observation.presence >= Presence.REBALANCING
    may_rest = np.where(there & ~nobody[rows], _in_topics(groups, unsure)[rows], 0)
    sighting = Sighting(
        at=observation.at,
        committed=latest[Latest.COMMITTED],
        committed_at=latest[Latest.COMMITTED_AT],
        commits=observation.commits,
        log_end=latest[Latest.LOG_END],
        log_start=latest[Latest.LOG_START],
        allowed_lag=np.maximum(of_rows(rules.allowed_lag, rows) + steps[rows], may_rest),
        presence=observation.presence,
        last_stable=observation.last_stable,
        pace_ms=rules.grace_ms,
    )
    see(track, rows, sighting)
    if any(group.event.earlier for group in groups):
        expect(track, into.windows)
    stops = [group.rows.stop for group in groups]
    for number in set(np.searchsorted(stops, np.flatnonzero(heirs), "right").tolist()):
        start = groups[number].rows.start
        for own in groups[number].state.layout.ranges.values():
            inherit(track, heirs, slice(start + own.start, start + own.stop))


def shown(observation: Observation, windows: Windows) -> tuple[Bools, Bools]:
    """[N] each: commits at the log's end, and those that rest one before it. `windows` have the log
    ends already.
    """
    latest, rows = observation.latest, observation.rows
    committed, log_end = latest[Latest.COMMITTED], latest[Latest.LOG_END]
    at_end = (committed == log_end) & (committed > 0)
    rests = (committed + 1 == log_end) & (committed >= 0)
    if rests.any():
        rests &= windows.log_ends[rows, -2] == log_end
    if rests.any():
        # Since it first committed that offset, as far as is known: some commit it again and again.
        times, newest = windows.columns[Column.COMMITTED_AT, rows], latest[Latest.COMMITTED_AT]
        is_same = windows.columns[Column.OFFSET, rows] == committed[:, None]
        is_same &= windows.occupied[rows]
        since = np.where(is_same, times, newest[:, None]).min(axis=1)
        rests &= observation.at - since >= REST_MS
    return at_end, rests


def _learnt(
    groups: Sequence[Observed], observation: Observation, windows: Windows
) -> list[Commits]:
    """How each group commits, with what the observation has `shown`. Lags of the past were too
    large by one where it has only now become clear what is meant.
    """
    at_end, rests = shown(observation, windows)
    commits = [group.state.commits for group in groups]
    for number in set(observation.group[at_end | rests].tolist()):
        event, state, own, named = groups[number]
        start = named.start
        for topic, positions in event.topics.items():
            part = slice(start, start + len(positions.partition))
            start = part.stop
            places = [
                Rest(positions.partition[at], positions.log_end[at])
                for at in np.flatnonzero(rests[part]).tolist()
            ]
            before = commits[number].get(topic, CommitEvidence())
            found = before.and_seen(places, at_end=bool(at_end[part].any()))
            if found is not before:
                commits[number] = {**commits[number], topic: found}
            if found.steps > before.steps:
                lag = windows.part(own).columns[Column.LAG, state.layout.ranges[topic]]
                lag[lag > 0] -= 1
    return commits


def _recall(group: Observed, latest: Int64, windows: Windows, apart_ms: int) -> None:
    """Take in log ends and commits of before the first event of a position, as it tells them.

    Only where nothing is known yet. What was seen here is never touched, so that a collector that
    was restarted changes nothing. Raises ContractViolation.
    """
    event = group.event
    # As long as those after will be; two at least: the newest may be younger than the commit.
    kept = max(math.ceil(windows.intervals * apart_ms / APART_MS), 2)
    for topic, earlier in (event.earlier or {}).items():
        try:
            for index, row in enumerate(group.state.layout.rows(topic, earlier.partition).tolist()):
                if row == MISSING:
                    continue
                if windows.log_ends[row, -1] == UNKNOWN:
                    windows.recall_log_ends(row, np.array(earlier.log_end[index][-kept:], np.int64))
                if not windows.filled[row] and latest[Latest.COMMITTED, row] >= 0:
                    log_end = int(latest[Latest.LOG_END, row])
                    windows.fill(row, _commits(event, earlier, index, log_end))
        except OverflowError as error:
            raise ContractViolation(f"earlier.{topic}: beyond 64 bits") from error


def _commits(event: OffsetEvent, earlier: EarlierPositions, index: int, log_end: int) -> Int64:
    """[Column, commit]. Their lag is as Burrow has it when it begins, by the log end of now: nobody
    knows that of then. One that had reached the newest of the ends before now was not behind.
    """
    offset, at = np.array([earlier.committed[index], earlier.committed_at[index]], np.int64)
    before = max(earlier.log_end[index][-1:], default=log_end)
    lag = np.where(offset >= before, 0, np.maximum(log_end - offset, 0))
    lag = np.where(log_end == UNKNOWN, UNKNOWN, lag)
    observed_at = np.full_like(at, event.observed_at)
    order = order_of(event) - np.arange(len(at), 0, -1)
    return np.array([offset, np.clip(at, -MAX_TIME, MAX_TIME), observed_at, lag, order])
