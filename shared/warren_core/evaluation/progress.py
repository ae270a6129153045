"""Policy `progress`: judged by time and by what moves, with what is usual for each partition.

A window is taken as observations for those who have nothing else (`warren evaluate`).
"""

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status

from warren_core.evaluation.backlog import BURST, CATCHES_UP, GROWING, TOO_LATE
from warren_core.evaluation.busy_hours import BUSY
from warren_core.evaluation.commit_sizes import BY_COUNT
from warren_core.evaluation.evidence import Evidence
from warren_core.evaluation.learning import ONE_LEFT, see
from warren_core.evaluation.level import LEVEL
from warren_core.evaluation.loops import LOOP, loops
from warren_core.evaluation.predicates import log_end_reached
from warren_core.evaluation.presence import AWAY, DAILY, REBALANCE
from warren_core.evaluation.rewinds import REWIND, goes_to_and_fro, is_replaying, is_rewound
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import Mark, Sighting, Track
from warren_core.evaluation.usual import (
    HABIT,
    NEW,
    RUNS,
    TRANSACTION,
    UNLEARNT,
    caught_up_lag,
    patience_ms,
    repeating_ms,
)
from warren_core.evaluation.waits import SIBLING
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64

_NEVER_BLIND = 2**62
_LARGEST = 2**63 - 1

SILENCE = Rule(
    "silence",
    learns="since when there is something to read that is not read",
    speaks="STOP after 35 s, or as long as a rule below allows",
    sentence="Who does not read what is there for 35 s has stopped.",
    parameters=("least_wait", "soon", "long"),
)
REPEATS = Rule(
    "repeats",
    learns="how long commits of one offset came before it went on",
    speaks="STALL after 15 s of two and more such commits, or half more than that",
    sentence="Who commits one offset again and again is stuck.",
    parameters=("repeated", "stands"),
)
RULES = (
    *(SILENCE, REPEATS, LOOP, REWIND, GROWING, TOO_LATE, CATCHES_UP),
    *(HABIT, UNLEARNT, NEW, RUNS, AWAY, DAILY, SIBLING, TRANSACTION),
    *(REBALANCE, ONE_LEFT, BY_COUNT, BURST, LEVEL, BUSY),
)
"""Those that speak, those that give time, and those by which something does not count."""


def waited_ms(track: Track, now_ms: int | Int64) -> Int64:
    """[partition] how long it has stood still; 0 while nothing is to be read."""
    since = track.marks[Mark.WAITING_SINCE]
    return np.where(since >= 0, np.maximum(now_ms - since, 0), 0)


def judge(track: Track, now_ms: int | Int64, allowed_lag: int | Int64) -> NDArray[np.uint8]:
    """[partition] statuses."""
    marks = track.marks
    patience = patience_ms(track.marks, track.figures)
    waited = waited_ms(track, now_ms)
    too_long = (waited > patience) & SILENCE.on
    commits = _keeps_committing(track, now_ms, patience)
    repeats = (
        commits & (waited > np.minimum(patience, repeating_ms(marks, track.figures))) & REPEATS.on
    )
    rewound = is_rewound(track, now_ms, patience, allowed_lag)
    replays = is_replaying(track, now_ms)
    status = np.select(
        [
            goes_to_and_fro(marks),
            _nothing_to_read(track, allowed_lag),
            rewound & ~replays,
            repeats,
            too_long,
            rewound | (marks[Mark.GROWING] > 0),
        ],
        [
            np.uint8(Status.REWIND),
            np.uint8(Status.OK),
            np.uint8(Status.REWIND),
            np.uint8(Status.STALL),
            np.uint8(Status.STOP),
            np.uint8(Status.WARN),
        ],
        default=np.uint8(Status.OK),
    )
    in_between = (status == Status.OK) & loops(marks, now_ms)
    return np.where(in_between, np.uint8(Status.WARN), status)


def _nothing_to_read(track: Track, allowed_lag: int | Int64) -> Bools:
    marks = track.marks
    unknown = (marks[Mark.COMMITTED] < 0) | (marks[Mark.LOG_END] < 0)
    lag = marks[Mark.LOG_END] - marks[Mark.COMMITTED]
    nothing: Bools = unknown | (lag <= caught_up_lag(marks, allowed_lag))
    return nothing


def _keeps_committing(track: Track, now_ms: int | Int64, patience: Int64) -> Bools:
    marks = track.marks
    recent = now_ms - marks[Mark.COMMIT_SEEN_AT] <= patience
    keeps: Bools = (marks[Mark.REPEATS] >= BY.repeated) & (marks[Mark.COMMIT_SEEN_AT] >= 0) & recent
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
