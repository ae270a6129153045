"""Policy `progress`: judged by time and by what moves, with what is usual for each partition.

A window is taken as observations for those who have nothing else (`warren evaluate`).
"""

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status

from warren_core.evaluation.commit_sizes import BY_COUNT
from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.lateness import BEHIND
from warren_core.evaluation.learning import see
from warren_core.evaluation.patience import AWAY, FIRST, HABIT, REPEATED, RESTS, patience_ms
from warren_core.evaluation.predicates import log_end_reached
from warren_core.evaluation.returns import RETURNS
from warren_core.evaluation.rewinds import REWIND, goes_to_and_fro, is_replaying, is_rewound
from warren_core.evaluation.rule import Rule
from warren_core.evaluation.track import Mark, Sighting, Track
from warren_core.evaluation.waits import HELD, or_held_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64

_NEVER_BLIND = 2**62
_LARGEST = 2**63 - 1

SILENCE = Rule(
    "silence",
    learns="since when there is something to read that is not read",
    speaks="STOP after 45 s, or as long as a rule below allows; STALL where commits of that offset "
    "go on",
    sentence="Who does not read what is there for 45 s has stopped.",
    parameters=("least_wait",),
)
RULES = (
    *(SILENCE, REWIND, BEHIND),
    *(HABIT, FIRST, AWAY, RESTS, HELD, RETURNS, BY_COUNT),
)
"""Those that speak, those that give time, and that by which something does not count."""


def waited_ms(track: Track, now_ms: int | Int64) -> Int64:
    """[partition] how long it has stood still; 0 while nothing is to be read."""
    since = track.marks[Mark.WAITING_SINCE]
    return np.where(since >= 0, np.maximum(now_ms - since, 0), 0)


def judge(track: Track, now_ms: int | Int64) -> NDArray[np.uint8]:
    """[partition] statuses."""
    marks = track.marks
    patience = or_held_ms(marks, patience_ms(marks, track.figures))
    too_long = (waited_ms(track, now_ms) > patience) & SILENCE.on
    is_stuck = too_long & _keeps_committing(track, now_ms, patience)
    is_unread = marks[Mark.WAITING_SINCE] >= 0
    rewound = is_rewound(track, now_ms, patience) & is_unread
    replays = is_replaying(track, now_ms)
    return np.select(
        [
            goes_to_and_fro(marks) | (rewound & ~replays),
            is_stuck,
            too_long,
            rewound | (is_unread & (marks[Mark.ALARM] > 0)),
        ],
        [
            np.uint8(Status.REWIND),
            np.uint8(Status.STALL),
            np.uint8(Status.STOP),
            np.uint8(Status.WARN),
        ],
        default=np.uint8(Status.OK),
    )


def _keeps_committing(track: Track, now_ms: int | Int64, patience: Int64) -> Bools:
    marks = track.marks
    recent = now_ms - marks[Mark.COMMIT_SEEN_AT] <= patience
    keeps: Bools = (marks[Mark.REPEATS] >= REPEATED) & (marks[Mark.COMMIT_SEEN_AT] >= 0) & recent
    return keeps


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
