"""Replay: a window taken as observations, for those who have nothing else (`warren evaluate`)."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.learning import see
from warren_core.evaluation.predicates import log_end_reached
from warren_core.evaluation.track import Mark, Sighting, Track
from warren_core.evaluation.windows import UNKNOWN, Column, Int64

_NEVER_BLIND = 2**62
_LARGEST = 2**63 - 1


def tracked(evidence: Evidence, allowed_lag: int | Int64) -> Track:
    """The track of the evidence, or what its windows tell: each commit as one observation.

    When the log grew between the newest commit and now is not known: since that commit, unless a
    remembered log end says that the group was caught up later.
    """
    if evidence.track is not None:
        return evidence.track
    windows = evidence.windows
    track = Track.empty(len(windows.filled))
    allowed = np.broadcast_to(allowed_lag, windows.filled.shape)
    for slot in range(windows.intervals):
        rows = np.flatnonzero(windows.occupied[:, slot])
        commit = windows.columns[:, rows, slot]
        sighting = Sighting(
            at=commit[Column.COMMITTED_AT],
            committed=commit[Column.OFFSET],
            committed_at=commit[Column.COMMITTED_AT],
            commits=np.ones(len(rows), np.int64),
            log_end=_log_end(commit[Column.OFFSET], commit[Column.LAG]),
            allowed_lag=allowed[rows],
        )
        see(track, rows, sighting, _NEVER_BLIND)
    _observe_now(track, evidence, allowed)
    return track


def _observe_now(track: Track, evidence: Evidence, allowed: Int64) -> None:
    windows = evidence.windows
    rows = np.flatnonzero(windows.filled > 0)
    newest = windows.newest()[:, rows]
    was_waiting = track.marks[Mark.WAITING_SINCE, rows] >= 0
    sighting = Sighting(
        at=np.broadcast_to(evidence.now_ms, windows.filled.shape)[rows],
        committed=newest[Column.OFFSET],
        committed_at=newest[Column.COMMITTED_AT],
        commits=np.zeros(len(rows), np.int64),
        log_end=_log_end(newest[Column.OFFSET], evidence.current_lag[rows]),
        allowed_lag=allowed[rows],
    )
    see(track, rows, sighting, _NEVER_BLIND)
    since_commit = ~was_waiting & ~log_end_reached(windows)[rows]
    waiting = track.marks[Mark.WAITING_SINCE, rows]
    track.marks[Mark.WAITING_SINCE, rows] = np.where(
        since_commit & (waiting >= 0), newest[Column.COMMITTED_AT], waiting
    )


def _log_end(offset: Int64, lag: Int64) -> Int64:
    known = np.where(lag > _LARGEST - offset, _LARGEST, offset + lag)
    return np.where(lag == UNKNOWN, UNKNOWN, known)
