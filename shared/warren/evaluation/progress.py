"""Policy `progress`: judged by time and by what moves, with what is usual for each partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warren.contracts.status import Status
from warren.evaluation.track import Mark, Track
from warren.evaluation.usual import (
    LEAST_PAUSE_MS,
    REPEATED,
    caught_up_lag,
    explained_lag,
    patience_ms,
    repeating_ms,
    usual_gap,
)
from warren.evaluation.windows import Bools, Int64

# A rewind is told as such for so long; who then reads on replays.
TOLD_MS = 60_000


def waited_ms(track: Track, now_ms: int | Int64) -> Int64:
    """[partition] how long it has stood still; 0 while nothing is to be read."""
    since = track.marks[Mark.WAITING_SINCE]
    return np.where(since >= 0, np.maximum(now_ms - since, 0), 0)


def judge(track: Track, now_ms: int | Int64, allowed_lag: int | Int64) -> NDArray[np.uint8]:
    """[partition] statuses."""
    marks = track.marks
    patience = patience_ms(track.marks, track.figures)
    waited = waited_ms(track, now_ms)
    too_long = waited > patience
    commits = _keeps_committing(track, now_ms, patience)
    repeats = commits & (waited > np.minimum(patience, repeating_ms(marks)))
    rewound = _rewound(track, now_ms, patience, allowed_lag)
    replays = is_replaying(track, now_ms)
    return np.select(
        [
            _nothing_to_read(track, allowed_lag),
            rewound & ~replays,
            repeats,
            too_long,
            rewound | (marks[Mark.GROWING] > 0),
        ],
        [
            np.uint8(Status.OK),
            np.uint8(Status.REWIND),
            np.uint8(Status.STALL),
            np.uint8(Status.STOP),
            np.uint8(Status.WARN),
        ],
        default=np.uint8(Status.OK),
    )


def _nothing_to_read(track: Track, allowed_lag: int | Int64) -> Bools:
    marks = track.marks
    unknown = (marks[Mark.COMMITTED] < 0) | (marks[Mark.LOG_END] < 0)
    lag = marks[Mark.LOG_END] - marks[Mark.COMMITTED]
    nothing: Bools = unknown | (lag <= caught_up_lag(marks, allowed_lag))
    return nothing


def _rewound(track: Track, now_ms: int | Int64, patience: Int64, allowed_lag: int | Int64) -> Bools:
    """A small step back may be made good within the usual time. A large one is told once somebody
    reads on from there, or once the next commit would have shown that it was a late one of a member
    that is none any more.
    """
    marks = track.marks
    was_back: Bools = marks[Mark.REWOUND_FROM] >= 0
    if not was_back.any():
        return was_back
    back = marks[Mark.REWOUND_FROM] - marks[Mark.COMMITTED]
    large = back > explained_lag(marks, track.figures, allowed_lag)
    since = now_ms - marks[Mark.REWOUND_AT]
    next_ms = np.minimum(np.maximum(usual_gap(marks, track.figures), LEAST_PAUSE_MS), patience)
    reads_on = marks[Mark.ADVANCED_AT] > marks[Mark.REWOUND_AT]
    rewound: Bools = was_back & ((large & (reads_on | (since >= next_ms))) | (since > patience))
    return rewound


def is_replaying(track: Track, now_ms: int | Int64) -> Bools:
    """[partition] it went back, was told of, and has read on from there."""
    marks = track.marks
    at = marks[Mark.REWOUND_AT]
    replays: Bools = (at >= 0) & (marks[Mark.ADVANCED_AT] > at) & (now_ms - at >= TOLD_MS)
    return replays


def _keeps_committing(track: Track, now_ms: int | Int64, patience: Int64) -> Bools:
    marks = track.marks
    recent = now_ms - marks[Mark.COMMIT_SEEN_AT] <= patience
    keeps: Bools = (marks[Mark.REPEATS] >= REPEATED) & (marks[Mark.COMMIT_SEEN_AT] >= 0) & recent
    return keeps
