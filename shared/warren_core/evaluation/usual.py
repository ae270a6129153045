"""What is usual for each partition, by what was learnt of it, and what is therefore too much."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.clockwork import clock_ms, excused_ms, has_clock
from warren_core.evaluation.presence import LOOK_MS, THERE_MS, was_absent
from warren_core.evaluation.track import (
    ENOUGH_WAITS,
    LONGEST_MS,
    Figure,
    Figures,
    Floats,
    Mark,
    span_ms,
)
from warren_core.evaluation.windows import Bools, Int64

# A wait is too long when it is longer than all of these: what a quick rebalance may take,
LEAST_WAIT_MS = 35_000
# until enough waits have been seen,
UNLEARNT_WAIT_MS = 5 * 60_000
# or of members that are this new,
NEW_MS = 10 * 60_000
WORKED_MS = 2 * 60_000
# of a partition that was not seen to advance yet, whose last commit may be as old as a batch's,
UNSEEN_WAIT_MS = 15 * 60_000
BATCH_MS = 25 * 60_000
# or, where it is older and nobody is there, until members have been looked for again:
DEAD_WAIT_MS = LOOK_MS + 5_000
# and the longest of late, by a half: twice a short one, a third more of what is longer than 5 min.
SHORT_MS = 20_000
LONG_MS = 5 * 60_000
# A rhythm is regular when so many long waits differ by no more than this share of their mean: then
# little more than the longest is too long, or than the mean and so many times what they differ by.
REGULAR_WAITS = 2
REGULAR_SPREAD = 0.1
SPREADS = 2.5
REGULAR_ROOM_MS = 30_000
# Who worked for less than this share of a long wait before the next one works in runs.
RUN_SHARE = 4
# So many commits of one offset are no silence: who would read on has done so by now, or after a
# half more than it ever took; within a minute where that is not known yet.
REPEATED = 2
REPEATING_MS = 15_000
UNLEARNT_REPEATING_MS = 60_000
# Of the averages of the lag: quickly at least, and slowly so much more slowly.
LAG_MS = 30_000
SLOWER = 4
LEAST_PAUSE_MS = 10_000
# The same of the lag once it is known what is usually left.
LEAST_LEFT_MS = 4_000
# So many times what it leaves of late is usual, and what it always leaves, as of who processes it.
LEFT_TIMES = 2
# So many mean pauses between commits are usual, however long one was.
MEAN_PAUSES = 4


def caught_up_lag(marks: Int64, allowed_lag: int | Int64) -> Int64:
    """[partition] the largest lag of a consumer that has read everything."""
    caught_up: Int64 = np.maximum(marks[Mark.RESTING] >= 0, allowed_lag)
    return caught_up


def patience_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long the offset may stand still while there is something to read."""
    return or_by_clock_ms(marks, figures, patience_at_any_time_ms(marks, figures))


def or_by_clock_ms(marks: Int64, figures: Figures, at_any_time: Int64) -> Int64:
    """[partition] the patience, since what is due may take longer."""
    if not has_clock(figures).any():
        return at_any_time
    return np.maximum(at_any_time, excused_ms(marks, figures, _has_gone(marks)))


def patience_at_any_time_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] whatever the clock says."""
    unknown = (ENOUGH_WAITS - marks[Mark.WAITS]) / ENOUGH_WAITS
    least = np.maximum(LEAST_WAIT_MS, UNLEARNT_WAIT_MS * unknown).astype(np.int64)
    unseen = marks[Mark.WAITS] == 0
    if unseen.any():
        age = span_ms(marks[Mark.WAITING_SINCE], marks[Mark.COMMITTED_AT])
        whole = np.clip(BATCH_MS - age, UNLEARNT_WAIT_MS, UNSEEN_WAIT_MS)
        whole = np.where((age >= BATCH_MS) & was_absent(marks), DEAD_WAIT_MS, whole)
        least = np.where(unseen, whole, least)
    rest = marks[Mark.REST]
    if rest.any():
        least = np.where(_rests_again(marks, figures), np.maximum(BATCH_MS, rest * 4 // 3), least)
    if (new := _is_new(marks)).any():
        least = np.where(new, np.maximum(least, UNLEARNT_WAIT_MS), least)
    pause, goes = marks[[Mark.PAUSE, Mark.GOES]]
    if goes.any():
        # Who waits long without members need not with them, but may have gone since one looked.
        pause = np.where(was_absent(marks), np.maximum(pause, goes), pause)
        least = np.maximum(least, np.where(goes > LEAST_WAIT_MS, LEAST_WAIT_MS + LOOK_MS, 0))
    usual = pause + np.minimum(pause // 2, LONG_MS // 2) + np.minimum(pause // 2, SHORT_MS)
    usual += np.maximum(pause - LONG_MS, 0) // 3
    regular = marks[Mark.RHYTHM] >= REGULAR_WAITS
    if regular.any():
        mean, spread = figures[[Figure.RHYTHM_MEAN, Figure.RHYTHM_SPREAD]]
        regular &= spread <= REGULAR_SPREAD * mean
        longest = np.maximum(pause, mean + SPREADS * spread)
        tight = longest.astype(np.int64) + REGULAR_ROOM_MS
        usual = np.where(regular, np.minimum(usual, tight), usual)
    patience: Int64 = np.maximum(least, usual)
    gone = marks[Mark.GONE_SINCE]
    if (gone >= 0).any():
        patience = np.minimum(patience, _until_gone_ms(marks))
    return patience


def repeating_ms(marks: Int64) -> Int64:
    """[partition] how long it may commit the same offset while there is something to read."""
    unknown = marks[Mark.WAITS] < ENOUGH_WAITS
    least = np.where(unknown, UNLEARNT_REPEATING_MS, REPEATING_MS)
    learnt: Int64 = np.maximum(least, marks[Mark.REPEATING] * 3 // 2)
    return np.where(marks[Mark.REPEATS] < REPEATED, LONGEST_MS, learnt)


def _is_new(marks: Int64) -> Bools:
    """[partition] its members have been known for a short time only, have not worked all of it, and
    are there: one that does not commit just now may do so again soon.
    """
    waits, there = marks[[Mark.WAITING_SINCE, Mark.THERE_SINCE]]
    since = waits - there  # who waited long before anybody looked for members is not new
    new: Bools = (there >= 0) & (waits >= 0) & (since < NEW_MS) & (since >= -LOOK_MS)
    if new.any():
        worked = waits - np.maximum(there, marks[Mark.REST_AT])
        new &= (marks[Mark.WAITS] < ENOUGH_WAITS) | (worked < WORKED_MS)
        new &= (marks[Mark.REPEATS] < REPEATED) & ~was_absent(marks)
    return new


def longest_wait(marks: Int64) -> Int64:
    """[partition] of late, with members or without, at any time."""
    longest: Int64 = np.maximum(marks[Mark.PAUSE], marks[Mark.GOES])
    return longest


def longest_habit_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] the longest wait of late, those that come like clockwork among them."""
    longest: Int64 = np.maximum(longest_wait(marks), clock_ms(figures))
    return longest


def _has_gone(marks: Int64) -> Bools:
    """[partition] nobody is there who was there for long."""
    gone, there = marks[[Mark.GONE_SINCE, Mark.THERE_SINCE]]
    has_gone: Bools = (gone >= 0) & (there >= 0) & (gone - there >= THERE_MS)
    return has_gone


def _until_gone_ms(marks: Int64) -> Int64:
    """[partition] how long it may stand still where nobody is there who was there for long."""
    gone = marks[Mark.GONE_SINCE]
    before = np.where(marks[Mark.WAITING_SINCE] >= 0, span_ms(gone, marks[Mark.WAITING_SINCE]), 0)
    until: Int64 = np.where(
        _has_gone(marks), before + LEAST_WAIT_MS + marks[Mark.GOES] * 3 // 2, LONGEST_MS
    )
    return until


def _rests_again(marks: Int64, figures: Figures) -> Bools:
    """[partition] it has worked for a short time after a long wait, has read all, and nobody knows
    yet how long such a wait usually is.
    """
    rest = marks[Mark.REST]
    run = span_ms(marks[Mark.WAITING_SINCE], marks[Mark.REST_AT])
    read_all = marks[Mark.LEVEL_AT] >= marks[Mark.ADVANCED_AT]
    unknown = (marks[Mark.RHYTHM] == 0) | (figures[Figure.RHYTHM_MEAN] < rest / RUN_SHARE)
    rests: Bools = (run < rest // RUN_SHARE) & read_all & unknown
    rests &= marks[Mark.REPEATS] < REPEATED
    return rests


def remaining_ms(marks: Int64, lag: Int64, now: int | Int64) -> Floats:
    """[partition] until it is level with its log, at the pace since it fell behind; infinite where
    it comes no nearer.
    """
    read = marks[Mark.PEAK] - lag
    behind = span_ms(now, marks[Mark.BEHIND_SINCE])
    left: Floats = np.where(read > 0, lag * 1.0 * behind / np.maximum(read, 1), np.inf)
    return left


def lag_span_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] of the quick average of the lag: who commits rarely is looked at rarely."""
    span: Int64 = np.maximum(2 * usual_gap(marks, figures), LAG_MS)
    return span


def late_ms(marks: Int64, figures: Figures, lag: Int64, now: int | Int64) -> Floats:
    """[partition] how late it is, about: no longer than it has not been level with the log, and no
    longer than its lag takes to be written.
    """
    written = np.maximum(lag, 0) * 1000.0 / np.maximum(figures[Figure.PRODUCED], 1e-6)
    late: Floats = np.minimum(written, span_ms(now, marks[Mark.LEVEL_AT]))
    return late


def usual_gap(marks: Int64, figures: Figures) -> Int64:
    """[partition] ms between two advances that is usual at most. One pause among quick commits, as
    in a rebalance, is not.
    """
    mean = figures[Figure.COMMIT_PAUSE]
    most = np.where(mean >= 0, MEAN_PAUSES * mean, float(LONGEST_MS)).astype(np.int64)
    gap: Int64 = np.minimum(longest_wait(marks), most)
    return gap


def explained_lag(marks: Int64, figures: Figures, allowed_lag: int | Int64) -> Floats:
    """[partition] the lag that a healthy consumer may leave when it has just advanced."""
    learnt = (marks[Mark.WAITS] >= ENOUGH_WAITS) & (marks[Mark.LEFT] >= 0)
    usual = np.where(learnt, LEFT_TIMES * marks[Mark.LEFT], np.inf)
    least = np.where(learnt, LEAST_LEFT_MS, LEAST_PAUSE_MS)
    span = np.maximum(np.minimum(usual_gap(marks, figures) / 2, usual), least)
    span = np.maximum(span, LEFT_TIMES * figures[Figure.USUALLY_LEFT])
    written = np.maximum(figures[Figure.PRODUCED], 0) * span / 1000
    explained: Floats = caught_up_lag(marks, allowed_lag) + written + 3 * np.sqrt(written) + 1
    return explained
