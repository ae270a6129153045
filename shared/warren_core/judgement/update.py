"""The update of a group's state by what an event observed: partitions, windows, track."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from warren.contracts import EarlierPositions, OffsetEvent
from warren.errors import ContractViolation

from warren_core.evaluation import (
    MAX_TIME,
    UNKNOWN,
    Bools,
    Column,
    GroupRules,
    Int64,
    PartitionRules,
    Rules,
    Sighting,
    Track,
    Windows,
    expect,
    inherit,
    see,
)
from warren_core.evaluation.commit_convention import REST_MS, CommitEvidence, Commits, Rest
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.track import Mark
from warren_core.judgement import columns
from warren_core.judgement.columns import MISSING, Latest, Layout
from warren_core.judgement.lags import behind_of, left_out
from warren_core.judgement.observation import Observation, assume, give_way, observe, order_of
from warren_core.judgement.state import Applied, GroupState, unsure_of

APART_MS = 10_000
"""Between two of the log ends that an event tells of before: as the contract says, and Burrow."""


class Updated(NamedTuple):
    """A state with an event's observation in it, and the rules by its rows."""

    state: GroupState
    rules: PartitionRules
    observation: Observation


def updated_state(
    event: OffsetEvent, known: GroupState | None, rules: GroupRules, source_offset: int = UNKNOWN
) -> Updated:
    """Partitions that the event does not name stay. Raises ContractViolation."""
    old = known or GroupState.new(Applied.by(event), rules.group.intervals)
    if gone := left_out(event, old.latest, old.layout):
        event = event.model_copy(update={"removed": {**gone, **event.removed}})
    state, of_rows = old.grown(event, rules)
    observation = told_once(observe(event, state.layout, state.told), state.latest)
    goes_on = event.part + 1 < event.parts
    rows, windows = observation.rows, state.windows
    give_way(state.latest, windows, state.track, observation)
    state.latest[:, rows] = observation.latest
    forget_other_logs(windows, observation)
    is_first = windows.filled[rows] == 0
    if event.earlier:
        _recall(state, event, rules.group.log_ends_apart_ms)
    remember_log_ends(windows, observation, rules.group)
    at_end, rests = shown(observation, windows)
    commits = learnt(state.commits, event, at_end, rests)
    correct(windows, state.layout, state.commits, commits)
    updated = replace(
        state,
        applied=Applied.by(event, source_offset),
        commits=commits,
        told=observation.told if goes_on or columns.KEPT else None,
    )
    steps = updated.steps
    steps = steps if isinstance(steps, int) else steps[rows]
    insert(windows, observation, of_rows, steps, is_first)
    settled = assume(windows, observation)
    if state.track is not None:
        first = state.track.marks[Mark.COMMITTED] < 0
        unsure = np.where(state.latest[Latest.COMMITTED] < 0, 0, unsure_of(state.layout, commits))
        learn(state.track, settled, of_rows, steps, unsure)
        if event.earlier:
            expect(state.track, windows)
        heirs = first | (state.latest[Latest.COMMITTED] < 0)
        for topic in state.layout.ranges.values() if old.track and heirs.any() else ():
            inherit(state.track, heirs, topic)
    return Updated(updated, of_rows, observation)


def told_once(observation: Observation, latest: Int64) -> Observation:
    """The observation without commits that were told before: a collector that starts again reads
    what it had read. `latest`: before this observation.
    """
    which = [Latest.COMMITTED, Latest.COMMITTED_AT]
    again = (latest[which][:, observation.rows] == observation.latest[which]).all(axis=0)
    return replace(observation, commits=np.where(again, 0, observation.commits))


def remember_log_ends(windows: Windows, observation: Observation, rules: Rules) -> None:
    ends = observation.latest[Latest.LOG_END]
    windows.remember_log_ends(observation.rows, ends, observation.at, rules.log_ends_apart_ms)


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
    steps: Int64 | int,
    is_first: Bools,
) -> None:
    """Commits into their windows. `is_first`: [N] nothing was known of the partition's but what the
    event may tell of earlier. `steps`: of these partitions.
    """
    rows, latest = observation.rows, observation.latest
    committed, committed_at = latest[Latest.COMMITTED], latest[Latest.COMMITTED_AT]
    if (elsewhere := _was_elsewhere(windows, observation)).any():
        windows.clear_commits(rows[elsewhere])
        is_first = is_first | elsewhere
    lag = lag_of_commits(latest, windows.log_ends[rows, -2], steps)
    differs = (committed != windows.newest(Column.OFFSET)[rows]) | (
        committed_at != windows.newest(Column.COMMITTED_AT)[rows]
    )
    moved = (committed >= 0) & (is_first | ((observation.commits > 0) & differs))
    commits = np.empty((len(Column), int(moved.sum())), np.int64)
    commits[Column.OFFSET] = committed[moved]
    commits[Column.COMMITTED_AT] = committed_at[moved]
    commits[Column.OBSERVED_AT] = _of(observation.at, moved)
    commits[Column.LAG] = lag[moved]
    commits[Column.ORDER] = _of(observation.order, moved)
    into = rows[moved]
    windows.insert(into, commits, rules.min_distance_of(into), rules.capacity_of(into))
    if not isinstance(rules.intervals, int):
        windows.limit(rules.intervals)


def lag_of_commits(latest: Int64, log_end_before: Int64, steps: Int64 | int = 0) -> Int64:
    """The lag, but 0 where a commit reached the log end remembered before the newest.

    That is 5 or 10 s old by default, as Burrow's is 10 s at most when it takes a commit in: a
    consumer that keeps up with a steady producer is not behind, although there always is something
    new when one looks.
    """
    lag, next_offset = behind_of(latest, steps), latest[Latest.COMMITTED] + steps
    caught_up = (log_end_before != UNKNOWN) & (next_offset >= log_end_before) & (lag != UNKNOWN)
    return np.where(caught_up, 0, lag)


def learn(
    track: Track,
    observation: Observation,
    rules: PartitionRules,
    steps: Int64 | int,
    unsure: Int64,
) -> None:
    """`unsure`: as `unsure_of` says, [partition] of the track. Where nobody is known to be there,
    nobody may read that record, whatever it is.
    """
    latest, rows = observation.latest, observation.rows
    there = np.asarray(observation.presence) >= Presence.REBALANCING
    unsure = np.where(there, unsure[rows], 0)
    sighting = Sighting(
        at=observation.at,
        committed=latest[Latest.COMMITTED],
        committed_at=latest[Latest.COMMITTED_AT],
        commits=observation.commits,
        log_end=latest[Latest.LOG_END],
        log_start=latest[Latest.LOG_START],
        allowed_lag=np.maximum(rules.allowed_lag_of(rows) + steps, unsure),
        presence=observation.presence,
        last_stable=observation.last_stable,
        pace_ms=rules.grace_ms,
    )
    see(track, rows, sighting)


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
        rests &= observation.at - _there_since(observation, windows) >= REST_MS
    return at_end, rests


def learnt(known: Commits, event: OffsetEvent, at_end: Bools, rests: Bools) -> Commits:
    """How the group commits, with what the event has `shown`."""
    if not (at_end | rests).any():
        return known
    after = dict(known)
    start = 0
    for topic, positions in event.topics.items():
        part = slice(start, start + len(positions.partition))
        start = part.stop
        places = [
            Rest(positions.partition[at], positions.log_end[at])
            for at in np.flatnonzero(rests[part]).tolist()
        ]
        before = known.get(topic, CommitEvidence())
        found = before.and_seen(places, at_end=bool(at_end[part].any()))
        if found is not before:
            after[topic] = found
    return after


def correct(windows: Windows, layout: Layout, before: Commits, after: Commits) -> None:
    """Lags of the past were too large by one where it has only now become clear what is meant."""
    if before is after:
        return
    for topic, rows in layout.ranges.items():
        known, found = before.get(topic), after.get(topic)
        if found is not None and found.steps and not (known and known.steps):
            lag = windows.columns[Column.LAG, rows]
            windows.columns[Column.LAG, rows] = np.where(lag > 0, lag - 1, lag)


def _there_since(observation: Observation, windows: Windows) -> Int64:
    """When a group first committed the offset that it has committed last, as far as the windows
    know: some commit it again and again."""
    latest, rows = observation.latest, observation.rows
    is_same = windows.columns[Column.OFFSET, rows] == latest[Latest.COMMITTED, :, None]
    is_same &= windows.occupied[rows]
    newest = latest[Latest.COMMITTED_AT, :, None]
    earlier = np.where(is_same, windows.columns[Column.COMMITTED_AT, rows], newest)
    since: Int64 = earlier.min(axis=1)
    return since


def _was_elsewhere(windows: Windows, observation: Observation) -> Bools:
    """[N] the newest commit is beyond the log end, and the event's is not: the group was never
    there, so it has not gone back.
    """
    committed, log_end = observation.latest[Latest.COMMITTED], observation.latest[Latest.LOG_END]
    elsewhere: Bools = windows.newest(Column.OFFSET)[observation.rows] > log_end
    if elsewhere.any():  # hardly ever
        elsewhere &= (committed >= 0) & (committed <= log_end)
    return elsewhere


def _recall(state: GroupState, event: OffsetEvent, apart_ms: int) -> None:
    """Take in log ends and commits of before the first event of a position, as it tells them.

    Only where nothing is known yet. What was seen here is never touched, so that a collector that
    was restarted changes nothing. `apart_ms`: between two log ends that windows remember. Raises
    ContractViolation.
    """
    windows, latest = state.windows, state.latest
    # As long as those after will be; two at least: the newest may be younger than the commit.
    kept = max(math.ceil(windows.intervals * apart_ms / APART_MS), 2)
    for topic, earlier in (event.earlier or {}).items():
        try:
            for index, row in _found(state.layout.rows(topic, earlier.partition)):
                if windows.log_ends[row, -1] == UNKNOWN:
                    ends = np.array(earlier.log_end[index][-kept:], np.int64)
                    windows.recall_log_ends(row, ends)
                if not windows.filled[row] and latest[Latest.COMMITTED, row] >= 0:
                    commits = _commits(earlier, index, int(latest[Latest.LOG_END, row]))
                    commits[Column.OBSERVED_AT] = event.observed_at
                    commits[Column.ORDER] = order_of(event) - np.arange(commits.shape[1], 0, -1)
                    windows.fill(row, commits)
        except OverflowError as error:
            raise ContractViolation(f"earlier.{topic}: beyond 64 bits") from error


def _found(rows: Int64) -> Iterator[tuple[int, int]]:
    """Place and row of the partitions that the layout has."""
    return ((index, row) for index, row in enumerate(rows.tolist()) if row != MISSING)


def _commits(earlier: EarlierPositions, index: int, log_end: int) -> Int64:
    """[column, commit]. As Burrow when it begins, by the log end of now: nobody knows that of then.
    One that had reached the newest of the ends before now was not behind.
    """
    offset = np.array(earlier.committed[index], np.int64)
    commits = np.empty((len(Column), len(offset)), np.int64)
    commits[Column.OFFSET] = offset
    times = np.array(earlier.committed_at[index], np.int64)
    commits[Column.COMMITTED_AT] = np.clip(times, -MAX_TIME, MAX_TIME)
    before = max(earlier.log_end[index][-1:], default=log_end)
    lag = np.where(offset >= before, 0, np.maximum(log_end - offset, 0))
    commits[Column.LAG] = UNKNOWN if log_end == UNKNOWN else lag
    return commits


def _of(values: int | Int64, chosen: Bools) -> int | Int64:
    return values if isinstance(values, int) else values[chosen]
