"""Learning: what one observation adds to what policy `progress` knows of a partition."""

import numpy as np

from warren_core.evaluation.lateness import learn_lateness
from warren_core.evaluation.presence import learn_presence
from warren_core.evaluation.rewinds import learn_rewind
from warren_core.evaluation.rule import BY, MIN
from warren_core.evaluation.track import (
    FRESH,
    Figure,
    Figures,
    Mark,
    Sighting,
    Track,
    smooth,
    span_ms,
)
from warren_core.evaluation.waits import BEFORE_MS, learn_wait
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

BLIND_MS = 5 * MIN  # what took longer from one look to the next, nobody saw
_OVER_MS = 30 * MIN  # what is usually produced
_READ_OVER_MS = MIN  # how fast it reads


def see(track: Track, rows: Int64, sighting: Sighting, blind_ms: int = BLIND_MS) -> None:
    """Takes in one observation of each of these (distinct) partitions."""
    if np.array_equal(rows, np.arange(track.marks.shape[1])):
        _learn(track.marks, track.figures, sighting, blind_ms)
        return
    marks, figures = track.marks[:, rows], track.figures[:, rows]
    _learn(marks, figures, sighting, blind_ms)
    track.marks[:, rows], track.figures[:, rows] = marks, figures


def _learn(marks: Int64, figures: Figures, sighting: Sighting, blind_ms: int) -> None:
    """`marks` and `figures` are those of the partitions that were seen; changed in place."""
    committed, now = sighting.committed, sighting.at
    log_end = np.where(sighting.log_end >= 0, sighting.log_end, marks[Mark.LOG_END])
    fell = log_end < marks[Mark.LOG_END]
    # Nothing to start from: never seen, not committed (any more), or a log that was made anew. One
    # whose end only seems to have gone back is still read where it was.
    lost = (marks[Mark.COMMITTED] < 0) | (committed < 0)
    beyond = marks[Mark.COMMITTED] > marks[Mark.LOG_END]
    lost |= (committed < marks[Mark.COMMITTED]) & (fell | (beyond & (marks[Mark.LOG_END] >= 0)))
    if lost.any():
        marks[:, lost] = FRESH[:, None]
        figures[:, lost] = UNKNOWN
    elapsed = np.where(lost, 0, span_ms(now, marks[Mark.SEEN_AT]))
    sure = ~lost & (elapsed <= blind_ms)
    advanced = ~lost & (committed > marks[Mark.COMMITTED])
    known = (committed >= 0) & (log_end >= 0)
    first = np.maximum(committed, sighting.log_start)  # what was deleted cannot be read
    lag = np.where(known, np.maximum(log_end - first, 0), UNKNOWN)

    learn_presence(marks, sighting)
    stood_still = learn_wait(marks, figures, sighting, lag, elapsed, advanced, sure)
    _learn_commits(marks, figures, sighting, advanced, sure)
    learn_rewind(marks, figures, sighting, ~lost)
    _learn_rates(marks, figures, sighting, advanced, sure & ~fell, lost)
    known_lag = np.where(sighting.log_end >= 0, lag, UNKNOWN)  # an old end makes a lag look smaller
    learn_lateness(marks, figures, sighting, known_lag, elapsed, advanced & sure, lost, stood_still)
    marks[Mark.SEEN_AT] = now
    marks[Mark.ADVANCED_AT] = np.where(advanced | lost, now, marks[Mark.ADVANCED_AT])
    if lost.any():
        rest_at = np.clip(sighting.committed_at, now - BEFORE_MS, now)
        marks[Mark.REST_AT] = np.where(lost, rest_at, marks[Mark.REST_AT])
    marks[Mark.COMMITTED] = committed
    marks[Mark.LOG_END] = log_end


def _learn_commits(
    marks: Int64, figures: Figures, sighting: Sighting, advanced: Bools, sure: Bools
) -> None:
    came = (sighting.commits > 0) & (sighting.committed >= 0)
    repeats = marks[Mark.REPEATS] + np.where(came, np.minimum(sighting.commits, 1_000), 0)
    # What it committed while there was nothing to read tells nothing of a wait.
    waits = (marks[Mark.WAITING_SINCE] >= 0) & (marks[Mark.WAITING_SINCE] < sighting.at)
    marks[Mark.REPEATS] = np.where(advanced | ~waits, 0, np.minimum(repeats, 1_000_000))
    known = came & sure & (marks[Mark.COMMITTED_AT] != UNKNOWN)
    gap = span_ms(sighting.committed_at, marks[Mark.COMMITTED_AT])
    # A client's clock may be set; nobody has seen a longer pause than since the commit before.
    gap = np.minimum(gap, span_ms(sighting.at, marks[Mark.COMMIT_SEEN_AT]) + BLIND_MS)
    marks[Mark.COMMIT_SEEN_AT] = np.where(came, sighting.at, marks[Mark.COMMIT_SEEN_AT])
    pause = gap / np.maximum(sighting.commits, 1)
    average = figures[Figure.COMMIT_PAUSE]
    smoothed = np.where(average < 0, pause, average + (pause - average) / 8)
    figures[Figure.COMMIT_PAUSE] = np.where(known & (gap > 0), smoothed, average)
    newer = came | (marks[Mark.COMMITTED_AT] == UNKNOWN)
    marks[Mark.COMMITTED_AT] = np.where(newer, sighting.committed_at, marks[Mark.COMMITTED_AT])


def _learn_rates(
    marks: Int64, figures: Figures, sighting: Sighting, advanced: Bools, sure: Bools, lost: Bools
) -> None:
    """How fast the log grows, over minutes and half an hour, and how fast it is read."""
    now, log_end = sighting.at, sighting.log_end
    known_lag = log_end >= 0
    elapsed = span_ms(now, marks[Mark.LOG_END_AT])
    known = known_lag & sure & (marks[Mark.LOG_END] >= 0) & (elapsed > 0)
    rate = (log_end - marks[Mark.LOG_END]) * 1000.0 / np.maximum(elapsed, 1)
    marks[Mark.KNOWN_SINCE] = np.where(lost, now, marks[Mark.KNOWN_SINCE])
    since = span_ms(now, marks[Mark.KNOWN_SINCE])
    for figure, over in ((Figure.PRODUCED, BY.rate), (Figure.USUALLY_PRODUCED, _OVER_MS)):
        smooth(figures, figure, rate, known, elapsed, np.minimum(since, over))
    marks[Mark.LOG_END_AT] = np.where(known_lag, now, marks[Mark.LOG_END_AT])
    elapsed = span_ms(now, marks[Mark.ADVANCED_AT])
    read = (sighting.committed - marks[Mark.COMMITTED]) * 1000.0 / np.maximum(elapsed, 1)
    read_known = advanced & sure & (elapsed > 0)
    smooth(figures, Figure.CONSUMED, read, read_known, elapsed, _READ_OVER_MS)
