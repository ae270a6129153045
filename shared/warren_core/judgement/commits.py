"""What an event shows of how a group commits: see `warren_core.evaluation.commit_convention`."""

from __future__ import annotations

import numpy as np
from warren.contracts import OffsetEvent

from warren_core.evaluation import Bools, Column, Int64, Windows
from warren_core.evaluation.commit_convention import REST_MS, CommitEvidence, Commits, Rest
from warren_core.judgement.layout import Layout
from warren_core.judgement.observation import Observation
from warren_core.judgement.state import Latest


def seen(known: Commits, event: OffsetEvent, observation: Observation, windows: Windows) -> Commits:
    """With what the event shows; `windows` have its log ends already."""
    at_end, rests = shown(observation, windows)
    if not (at_end | rests).any():
        return known
    return learnt(known, event, at_end, rests)


def shown(observation: Observation, windows: Windows) -> tuple[Bools, Bools]:
    """[N] each: commits at the log's end, and those that rest one before it."""
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
    """`at_end` and `rests`: of the event's partitions, in its order."""
    found = dict(known)
    start = 0
    for topic, positions in event.topics.items():
        part = slice(start, start + len(positions.partition))
        start = part.stop
        places = [
            Rest(positions.partition[at], positions.log_end[at])
            for at in np.flatnonzero(rests[part]).tolist()
        ]
        before = known.get(topic, CommitEvidence())
        after = before.and_seen(places, at_end=bool(at_end[part].any()))
        if after is not before:
            found[topic] = after
    return found


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


def correct(windows: Windows, layout: Layout, before: Commits, after: Commits) -> None:
    """Lags of the past were too large by one where it has only now become clear what is meant."""
    if before is after:
        return
    for topic, _, rows in layout.slices():
        known, learnt = before.get(topic), after.get(topic)
        if learnt is not None and learnt.steps and not (known and known.steps):
            lag = windows.columns[Column.LAG, rows]
            windows.columns[Column.LAG, rows] = np.where(lag > 0, lag - 1, lag)
