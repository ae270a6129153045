"""Waits: how long the offset stands still although there is something to read."""

from __future__ import annotations

import numpy as np

from warren_core.evaluation.clockwork import (
    are_alike,
    ended_at,
    has_clock,
    is_due,
    keep_clock,
    stop_clock,
)
from warren_core.evaluation.presence import REBALANCE_MS, end_absence, rebalanced_ms, was_absent
from warren_core.evaluation.track import (
    ASSUMED,
    ENOUGH_WAITS,
    MEMORY,
    Figure,
    Figures,
    Mark,
    Sighting,
    Track,
    span_ms,
)
from warren_core.evaluation.usual import (
    BATCH_MS,
    LEAST_WAIT_MS,
    REPEATED,
    RUN_SHARE,
    caught_up_lag,
    explained_lag,
    longest_wait,
    or_by_clock_ms,
    patience_at_any_time_ms,
)
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64, Windows

# A wait that was trouble is forgotten this much more slowly than time goes by,
ACCIDENT = 2
# and one that need not have been much more slowly: it comes again, hours later maybe.
PAUSE_ACCIDENT = 40
# One that is longer is no habit: if it comes at regular times, three of them, it is a clockwork.
CRASH_MS = 5 * 60_000
# But where they are no more than so many of their lengths apart it is up to this.
OFTEN = 8
LONGEST_OFTEN_MS = 9 * 60_000
# Those that come so rarely are a clockwork even where the one before is forgotten: hardly any
# accident comes each day, or week, at the same time.
DAILY_MS = 20 * 3_600_000
# Who pauses for no more than this may leave a commit out, as where a checkpoint fails.
LONGEST_LEFT_OUT_MS = 15 * 60_000
LONGEST_PAUSE_MS = 30 * 60_000
# What a rebalance may take is learnt from the first one, and that the next may take this long.
REBALANCE_LEARNT_MS = 150_000
FIRST_WAIT = 1
TRANSACTION_MS = 15 * 60_000  # Kafka's own transaction.max.timeout.ms
LONGEST_EXPECTED_MS = 6 * 3_600_000
LONG_WAIT_MS = 60_000  # as of who works in runs
MET_WAITING_MS = 30_000  # since it was first seen, or it had read all
READS_ON = 9  # so many times the time in which who has read all reads on is taken off its rest
SHORT_REST_MS = BATCH_MS * 3 // 4  # but for what any batch may rest
SHORT_WAIT_MS = 15_000  # of these any number may come one after the other


def expect(track: Track, windows: Windows) -> None:
    """Of partitions that were seen for the first time: the longest pause between their commits of
    before, until waits are known. Of the first one nobody saw the beginning.
    """
    times = windows.column(Column.COMMITTED_AT)
    apart = np.where(windows.occupied[:, :-1], np.diff(times, axis=1), 0)
    longest = np.minimum(apart.max(axis=1, initial=0), LONGEST_EXPECTED_MS)
    known_since, seen_at = track.marks[[Mark.KNOWN_SINCE, Mark.SEEN_AT]]
    first = (known_since >= 0) & (known_since == seen_at) & (track.marks[Mark.WAITS] == 0)
    track.marks[Mark.PAUSE] = np.where(first, longest & ~ASSUMED, track.marks[Mark.PAUSE])


def learn_wait(
    marks: Int64,
    figures: Figures,
    sighting: Sighting,
    lag: Int64,
    elapsed: Int64,
    advanced: Bools,
    sure: Bools,
) -> Bools:
    """How long the offset stands still although there is something to read. [partition] it stood
    still for too long, or amid a slow rebalance, until now.
    """
    since = marks[Mark.WAITING_SINCE]
    # Whoever could not look does not know what took so long: no client is to be blamed for it.
    unseen = np.where(sighting.is_late(elapsed), elapsed - sighting.pace_ms, 0)
    # What came and was read between two observations took that long at most.
    wait = np.maximum(np.where(since >= 0, span_ms(sighting.at, since), elapsed) - unseen, 0)
    ended = advanced & sure
    at_any_time = patience_at_any_time_ms(marks, figures)
    too_long = wait > or_by_clock_ms(marks, figures, at_any_time)
    learnt = _remember_pause(marks, figures, wait, ended, wait > at_any_time, sighting.at)
    end_absence(marks, sighting.at, advanced)
    _learn_rest(marks, wait, elapsed, advanced, sure, sighting.at)
    _learn_rhythm(marks, figures, wait, ended & learnt)
    _remember(marks, Mark.REPEATING, wait, wait, ended & learnt & (marks[Mark.REPEATS] >= REPEATED))
    marks[Mark.WAITS] = np.minimum(marks[Mark.WAITS] + ended, ENOUGH_WAITS)
    waiting = lag > caught_up_lag(marks, sighting.allowed_lag)
    # A step back does not excuse who was found standing still: nobody has read on.
    back = sighting.committed < marks[Mark.COMMITTED]
    moved = advanced | back & ~(too_long & (since >= 0))
    stands = (since >= 0) & ~moved
    # What nobody saw was no rebalance that anybody saw: its allowance is for the one of now.
    excused = rebalanced_ms(marks, sighting, stands, elapsed - unseen) + unseen
    excused = np.maximum(excused, _held_ms(marks, figures, sighting, stands, elapsed))
    since = np.where(moved | (since < 0), sighting.at, since + excused)
    marks[Mark.WAITING_SINCE] = np.where(waiting, since, UNKNOWN)
    was_long: Bools = ended & (too_long | (marks[Mark.REBALANCED] > LEAST_WAIT_MS))
    marks[Mark.REBALANCED] = np.where(moved | ~waiting, 0, marks[Mark.REBALANCED])
    return was_long


def _held_ms(
    marks: Int64, figures: Figures, sighting: Sighting, stands: Bools, elapsed: Int64
) -> Int64 | int:
    """[partition] how much of the time since the last observation it stood where a transaction is
    open: who reads committed records may read no further. Who commits what it was given stays
    before the aborted records and markers that precede it: no more than a healthy one may leave.
    """
    stable = sighting.last_stable
    if not np.any(stable >= 0):
        return 0
    is_open = (stable >= 0) & (stable < sighting.log_end)
    reached = explained_lag(marks, figures, sighting.allowed_lag)
    held = stands & is_open & (sighting.committed + reached >= stable)
    held &= span_ms(sighting.at, marks[Mark.ADVANCED_AT]) <= TRANSACTION_MS
    return np.where(held, elapsed, 0)


def _remember_pause(
    marks: Int64,
    figures: Figures,
    wait: Int64,
    ended: Bools,
    too_long: Bools,
    now: int | Int64,
) -> Bools:
    """One that was too long may be an accident. A second one shows a habit: soon after, or hours
    later where no crash would have been found meanwhile. What a rebalance may take is one at once.
    What is longer than a crash may be is one only when it is due. [partition] whether it was learnt
    as what may come at any time.
    """
    odd = marks[Mark.ODD_PAUSE]
    slower = np.where(odd <= LONGEST_PAUSE_MS, PAUSE_ACCIDENT, ACCIDENT)
    began = now - wait
    apart, apart_before = span_ms(began, marks[Mark.ODD_AT]), marks[Mark.ODD_APART]
    before = np.maximum(odd - apart // slower, 0)
    follows = before >= wait // 3
    pause = marks[Mark.PAUSE]
    left_out = np.where(pause <= LONGEST_LEFT_OUT_MS, pause * 5 // 2, 0)
    crash = np.where(apart <= OFTEN * wait, LONGEST_OFTEN_MS, CRASH_MS)
    habit = follows & (wait <= np.maximum(crash, left_out)) | (wait <= REBALANCE_MS)
    seen = wait & ~ASSUMED
    assumed = np.where(wait < REBALANCE_LEARNT_MS, REBALANCE_LEARNT_MS + ASSUMED, seen)
    learnt = np.where(too_long, np.where(habit, assumed, 0), seen)
    absent = was_absent(marks)
    # From here on it is known what was only expected: nobody has seen so long a pause.
    if (first := ended & (marks[Mark.WAITS] == FIRST_WAIT)).any():
        first &= marks[Mark.PAUSE] > span_ms(now, marks[Mark.KNOWN_SINCE])
        marks[Mark.PAUSE] = np.where(first, 0, marks[Mark.PAUSE])
    _remember(marks, Mark.PAUSE, wait, learnt, ended & ~absent)
    if absent.any() or marks[Mark.GOES].any():
        _remember(marks, Mark.GOES, wait, learnt, ended & absent)
    crashed = ended & too_long & (wait > CRASH_MS)
    noted = ended & too_long & (wait >= before) | crashed & (wait >= before // 2)
    if crashed.any() or has_clock(figures).any():
        stop_clock(marks, figures, began, ended, now)
        clock = has_clock(figures)
        alike = (follows | (apart >= DAILY_MS)) & are_alike(marks, wait)
        due = crashed & is_due(marks, figures, began, now) & (clock | alike)
        keep_clock(marks, figures, wait, began, due, now)
        # An accident amid them does not disturb the clock.
        noted &= ~clock & ~due
    ends_apart = np.where(odd > 0, span_ms(now, ended_at(marks)), 0)
    marks[Mark.ENDS_APART] = np.where(noted, ends_apart, marks[Mark.ENDS_APART])
    marks[Mark.ODD_PAUSE] = np.where(noted, wait, odd)
    marks[Mark.ODD_APART] = np.where(noted & (odd > 0), apart, apart_before)
    marks[Mark.ODD_AT] = np.where(noted, began, marks[Mark.ODD_AT])
    known: Bools = ~too_long | habit
    return known


def _remember(marks: Int64, mark: Mark, wait: Int64, learnt: Int64, ended: Bools) -> None:
    faded = np.maximum(marks[mark] - (wait // MEMORY & ~ASSUMED), 0)
    marks[mark] = np.where(ended, np.maximum(faded, learnt), marks[mark])


def _learn_rest(
    marks: Int64, wait: Int64, elapsed: Int64, advanced: Bools, sure: Bools, now: int | Int64
) -> None:
    """Whether it works in runs: little of the time since the long wait before. Who reads on once it
    has read all does not.
    """
    rest = marks[Mark.REST]
    if rest.any():
        reads_on = advanced & (marks[Mark.LEVEL_AT] == marks[Mark.SEEN_AT])
        shorter = np.maximum(rest - READS_ON * elapsed, np.minimum(rest, SHORT_REST_MS))
        rest = marks[Mark.REST] = np.where(reads_on, shorter, rest)
    ended = advanced & sure
    if not (ended & ((wait >= LONG_WAIT_MS) | (marks[Mark.WAITS] == 0))).any():  # as mostly
        return
    wait, rest_at = _since_last_commit(marks, wait)
    long = ended & (wait >= LONG_WAIT_MS)
    run = span_ms(now, rest_at) - wait
    marks[Mark.REST] = np.where(long, np.where(run < wait // RUN_SHARE, wait, 0), rest)
    marks[Mark.REST_AT] = np.where(long, now, marks[Mark.REST_AT])


def _since_last_commit(marks: Int64, wait: Int64) -> tuple[Int64, Int64]:
    """[partition] the wait and REST_AT. One that was met waiting has done so since its last commit;
    of another nothing is known of before.
    """
    rest_at, known_since = marks[[Mark.REST_AT, Mark.KNOWN_SINCE]]
    unseen = rest_at < known_since
    met_after = marks[Mark.WAITING_SINCE] - marks[Mark.REBALANCED] - known_since
    met = unseen & (marks[Mark.WAITS] == 0) & (marks[Mark.WAITING_SINCE] >= 0)
    met &= met_after <= MET_WAITING_MS
    wait = wait + np.where(met, marks[Mark.WAITING_SINCE] - rest_at, 0)
    return wait, np.where(unseen & ~met, known_since, rest_at)


def _learn_rhythm(marks: Int64, figures: Figures, wait: Int64, learnt: Bools) -> None:
    """How much the longest waits differ. Of the first one nobody saw the beginning."""
    long = learnt & (wait >= SHORT_WAIT_MS)
    if not long.any():
        return
    longest = longest_wait(marks)
    long &= (2 * wait >= longest) & (marks[Mark.WAITS] > 0)
    mean, spread = figures[[Figure.RHYTHM_MEAN, Figure.RHYTHM_SPREAD]]
    seen = marks[Mark.RHYTHM]
    first = (seen == 0) | (2 * mean < longest)
    apart = np.abs(wait - mean)
    spread = np.where(first, 0, spread + (apart - spread) / np.maximum(seen, 1))
    mean = np.where(first, wait, mean + (wait - mean) / (seen + 1))
    figures[Figure.RHYTHM_MEAN] = np.where(long, mean, figures[Figure.RHYTHM_MEAN])
    figures[Figure.RHYTHM_SPREAD] = np.where(long, spread, figures[Figure.RHYTHM_SPREAD])
    count = np.where(first, 1, np.minimum(seen + 1, ENOUGH_WAITS))
    marks[Mark.RHYTHM] = np.where(long, count, seen)
