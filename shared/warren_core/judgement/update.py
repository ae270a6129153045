"""The update of a group's state by what an event observed: partitions, windows, track."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from warren.contracts import OffsetEvent

from warren_core.evaluation import (
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
    see,
)
from warren_core.evaluation.commit_convention import last_processed
from warren_core.evaluation.track import Mark
from warren_core.evaluation.waits import expect, inherit
from warren_core.judgement.commits import correct, seen
from warren_core.judgement.earlier import recall
from warren_core.judgement.lags import lag_of_commits
from warren_core.judgement.layout import Layout
from warren_core.judgement.log_columns import logs_of_parts
from warren_core.judgement.observation import Observation, observe
from warren_core.judgement.state import Applied, GroupState, Latest


def updated_state(
    event: OffsetEvent, known: GroupState | None, rules: GroupRules, source_offset: int = UNKNOWN
) -> tuple[GroupState, PartitionRules]:
    """The state with the event's observation in it; partitions it does not name stay."""
    old = known or GroupState.new(Applied.by(event), rules.group.intervals)
    named = {topic: positions.partition for topic, positions in event.topics.items()}
    layout = old.layout.without_topics(event.removed).with_topics(named)
    applied = PartitionRules.of(rules, layout.counts())
    rows = old.layout.rows_of(layout)
    windows = old.windows.resized(applied.slots).take(rows)
    if not old.applied.shares_order_with(event):
        windows.forget_orders()
    latest = np.full((len(Latest), len(rows)), UNKNOWN, np.int64)
    latest[:, rows >= 0] = old.latest[:, rows[rows >= 0]]
    observation = observe(event, layout)
    latest[:, observation.rows] = observation.latest
    forget_other_logs(windows, observation)
    is_first = windows.filled[observation.rows] == 0
    if event.earlier:
        recall(windows, layout, latest, event, rules.group.log_ends_apart_ms)
    remember_log_ends(windows, observation, rules.group)
    before = {t: evidence for t, evidence in old.commits.items() if t in layout.topics}
    commits = seen(before, event, observation, windows)
    correct(windows, layout, before, commits)
    last = last_processed(commits)
    steps = layout.marked(last)[observation.rows] if last else 0
    insert(windows, observation, applied, steps, is_first)
    state = replace(
        old,
        applied=Applied.by(event, source_offset),
        layout=layout,
        latest=latest,
        windows=windows,
        track=_tracked(
            old, layout, rows, observation, applied, steps, windows if event.earlier else None
        ),
        commits=commits,
        onset=None if old.onset is None else old.onset.take(rows),
        logs=logs_of_parts(event, layout, old.logs, rows) if event.parts > 1 else None,
    )
    return state, applied


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


def _was_elsewhere(windows: Windows, observation: Observation) -> Bools:
    """[N] the newest commit is beyond the log end, and the event's is not: the group was never
    there, so it has not gone back.
    """
    committed, log_end = observation.latest[Latest.COMMITTED], observation.latest[Latest.LOG_END]
    elsewhere: Bools = windows.newest(Column.OFFSET)[observation.rows] > log_end
    if elsewhere.any():  # hardly ever
        elsewhere &= (committed >= 0) & (committed <= log_end)
    return elsewhere


def insert(
    windows: Windows,
    observation: Observation,
    rules: PartitionRules,
    steps: Int64 | int,
    is_first: Bools,
) -> None:
    """Commits into their windows. `is_first`: [N] nothing was known of the partition's but what the
    event may tell of earlier.
    """
    rows, latest = observation.rows, observation.latest
    committed, committed_at = latest[Latest.COMMITTED], latest[Latest.COMMITTED_AT]
    if (gone := committed < 0).any():
        windows.clear_commits(rows[gone])
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


def _tracked(
    old: GroupState,
    layout: Layout,
    rows: Int64,
    observation: Observation,
    rules: PartitionRules,
    steps: Int64 | int,
    recalled: Windows | None,
) -> Track | None:
    """What `progress` knows after this event; nothing where no partition is judged by it.
    `recalled`: with commits of before it.
    """
    if "progress" not in rules.policies:
        return None
    track = Track.empty(len(rows)) if old.track is None else old.track.take(rows)
    first = track.marks[Mark.COMMITTED] < 0
    learn(track, observation, rules, steps)
    if recalled is not None:
        expect(track, recalled)
    if old.track is not None and first.any():
        for _, _, topic in layout.slices():
            inherit(track, first, topic)
    return track


def learn(
    track: Track, observation: Observation, rules: PartitionRules, steps: Int64 | int
) -> None:
    latest = observation.latest
    sighting = Sighting(
        at=observation.at,
        committed=latest[Latest.COMMITTED],
        committed_at=latest[Latest.COMMITTED_AT],
        commits=observation.commits,
        log_end=latest[Latest.LOG_END],
        log_start=latest[Latest.LOG_START],
        allowed_lag=rules.allowed_lag_of(observation.rows) + steps,
        presence=observation.presence,
        last_stable=observation.last_stable,
        pace_ms=rules.grace_ms,
    )
    see(track, observation.rows, sighting)


def _of(values: int | Int64, chosen: Bools) -> int | Int64:
    return values if isinstance(values, int) else values[chosen]
