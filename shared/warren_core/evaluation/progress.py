"""Policy `progress`: judged by time and by what moves, with what is usual for each partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from warren.contracts.status import Status

from warren_core.evaluation.rewinds import goes_to_and_fro, is_replaying, is_rewound
from warren_core.evaluation.track import Mark, Track
from warren_core.evaluation.usual import (
    REPEATED,
    caught_up_lag,
    patience_ms,
    repeating_ms,
)
from warren_core.evaluation.windows import Bools, Int64


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
    rewound = is_rewound(track, now_ms, patience, allowed_lag)
    replays = is_replaying(track, now_ms)
    return np.select(
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


def _nothing_to_read(track: Track, allowed_lag: int | Int64) -> Bools:
    marks = track.marks
    unknown = (marks[Mark.COMMITTED] < 0) | (marks[Mark.LOG_END] < 0)
    lag = marks[Mark.LOG_END] - marks[Mark.COMMITTED]
    nothing: Bools = unknown | (lag <= caught_up_lag(marks, allowed_lag))
    return nothing


def _keeps_committing(track: Track, now_ms: int | Int64, patience: Int64) -> Bools:
    marks = track.marks
    recent = now_ms - marks[Mark.COMMIT_SEEN_AT] <= patience
    keeps: Bools = (marks[Mark.REPEATS] >= REPEATED) & (marks[Mark.COMMIT_SEEN_AT] >= 0) & recent
    return keeps
