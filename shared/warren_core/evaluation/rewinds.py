"""Rewinds: a committed offset that went back, and where it is read on from."""

import numpy as np

from warren_core.evaluation.lateness import explained_lag
from warren_core.evaluation.rule import BY, MIN, Rule, S
from warren_core.evaluation.track import TO_AND_FRO, Figures, Mark, Sighting, Track, span_ms
from warren_core.evaluation.waits import usual_gap
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

REWIND = Rule(
    "rewind",
    learns="where the offset was before it went back, and when",
    speaks="REWIND once somebody reads on from there or the next commit is due, after 60 s WARN "
    "until it is there again; REWIND, too, where it goes to and fro within 2 min",
    sentence="An offset that goes back is a rewind, unless the next commit makes it good.",
)


_NEXT_MS = 10 * S  # until the next commit is due at least
LATELY_MS = 2 * MIN  # who goes back twice within it goes to and fro
_TOLD_MS = MIN  # it is told for so long at least, before it is a replay


def learn_rewind(marks: Int64, figures: Figures, sighting: Sighting, known: Bools) -> None:
    """Changes `marks` in place, before they have the new offset."""
    before, committed, now = marks[Mark.COMMITTED], sighting.committed, sighting.at
    back = known & (committed < before) & REWIND.on
    if not (back.any() or (marks[Mark.REWOUND_FROM] >= 0).any()):
        return
    went_back_at = marks[Mark.REWOUND_AT]
    lately = (went_back_at >= 0) & (span_ms(now, went_back_at) < LATELY_MS)
    began = back & (marks[Mark.REWOUND_FROM] < 0)
    far = before - committed > explained_lag(marks, figures)
    fro = (goes_to_and_fro(marks) & lately) | (began & lately & far)
    marks[Mark.REWOUND_FROM] = np.where(began | (back & fro), before, marks[Mark.REWOUND_FROM])
    # Who goes back again amid a replay begins anew, and is known to read on: told at once.
    again = ~began & (span_ms(now, marks[Mark.ADVANCED_AT]) < BY.least_wait)
    at = np.where(again, marks[Mark.ADVANCED_AT] - 1, now)
    newest = np.where(back, at, went_back_at)
    marks[Mark.REWOUND_AT] = np.where(newest >= 0, newest & ~TO_AND_FRO, newest) + TO_AND_FRO * fro
    there = (committed >= marks[Mark.REWOUND_FROM]) & ~fro
    marks[Mark.REWOUND_FROM] = np.where(there, UNKNOWN, marks[Mark.REWOUND_FROM])


def goes_to_and_fro(marks: Int64) -> Bools:
    """[partition] offsets that lie apart are committed in turn."""
    at = marks[Mark.REWOUND_AT]
    goes: Bools = (marks[Mark.REWOUND_FROM] >= 0) & (at >= 0) & (at & TO_AND_FRO == TO_AND_FRO)
    return goes


def is_rewound(track: Track, now_ms: int | Int64, patience: Int64) -> Bools:
    """[partition] A small step back may be made good within the usual time. A large one is told
    once somebody reads on from there, or once the next commit would have shown that it was a late
    one of a member that is none any more.
    """
    marks = track.marks
    was_back: Bools = marks[Mark.REWOUND_FROM] >= 0
    if not was_back.any():
        return was_back
    back = marks[Mark.REWOUND_FROM] - marks[Mark.COMMITTED]
    large = back > explained_lag(marks, track.figures)
    since = now_ms - marks[Mark.REWOUND_AT]
    next_ms = np.minimum(np.maximum(usual_gap(marks, track.figures), _NEXT_MS), patience)
    reads_on = marks[Mark.ADVANCED_AT] > marks[Mark.REWOUND_AT]
    rewound: Bools = was_back & ((large & (reads_on | (since >= next_ms))) | (since > patience))
    return rewound


def is_replaying(track: Track, now_ms: int | Int64) -> Bools:
    """[partition] it went back, was told of, and has read on from there."""
    marks = track.marks
    at = marks[Mark.REWOUND_AT]
    replays: Bools = (at >= 0) & (marks[Mark.ADVANCED_AT] > at) & (now_ms - at >= _TOLD_MS)
    return replays
