"""Lateness: what an advance leaves to read, what is usual of it, and whether it grows.

Each partition has a level: the lag that its advances leave, at the rate that was written meanwhile.
Where a lag is above its level for longer than usual, and at its highest, it grows.
"""

import numpy as np

from warren_core.evaluation.rule import BY, HOUR, MIN, Rule, S
from warren_core.evaluation.track import (
    LONGEST_MS,
    Alarm,
    Figure,
    Figures,
    Floats,
    Mark,
    Sighting,
    Track,
    learn_return,
    longest,
    returning_ms,
    span_ms,
    with_room,
)
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

BEHIND = Rule(
    "behind",
    learns="the lag that its advances leave, at the rate of then, and how far less varies; how "
    "long a lag has grown until it went back to that, this day and the day before",
    speaks="WARN where it grows for longer, and 7 min, until half of it is read; and after a stop "
    "that was told, where it is five minutes late. What does not grow for an hour is a new level",
    sentence="Who falls further and further behind for seven minutes is too slow.",
    parameters=("behind", "growth", "commits", "left", "varies", "follows", "stays", "rate"),
)
_YOUNG_MS = 30 * MIN  # so long its rate is not known well
_CHANCE = 2.0  # times the square root of what is expected
_OTHER_RATE = 0.1  # part of a rate by which another one differs; or three times chance
_AT_ITS_HIGHEST = 0.97  # part of the most that it was
_FALLS_MS = 5 * MIN  # a lower level is averaged over this
_SURE = 360_000  # records: half a percent of so many is more than chance
_STANDS_MS = 30 * S  # who has not advanced for so long, and two pauses, stood still
_LATE_MS = 5 * MIN  # after a stop
_SLOWEST = 1e-6  # records per second


def usual_lag(marks: Int64, figures: Figures) -> Floats:
    """[partition] what its advances usually leave, records; more where more is written, and that is
    no chance. What is told does not end by that.
    """
    level, rate = np.maximum(figures[[Figure.LEVEL_LAG, Figure.LEVEL_RATE]], 0)
    ratio = np.where(rate > 0, figures[Figure.PRODUCED] / np.maximum(rate, _SLOWEST), 1.0)
    chance = 3 / np.sqrt(np.maximum(rate * BY.rate / 1000, _SLOWEST))
    more = (ratio - 1 > np.maximum(_OTHER_RATE, chance)) & (marks[Mark.ALARM] == Alarm.NOTHING)
    lag: Floats = level * np.where(more, ratio, 1)
    return lag


def usual_and_room(marks: Int64, figures: Figures) -> tuple[Floats, Floats]:
    """[partition] the usual lag, and so much more a healthy consumer may leave, records: half as
    much as it is more because more is written, for when that began is not known.
    """
    usual = usual_lag(marks, figures)
    more = usual - np.maximum(figures[Figure.LEVEL_LAG], 0)
    young = span_ms(marks[Mark.SEEN_AT], marks[Mark.KNOWN_SINCE]) < _YOUNG_MS
    room_ms = np.maximum(np.where(young, 2 * BY.left, BY.left), BY.varies * figures[Figure.VARIES])
    written = _written(figures) * room_ms / 1000
    return usual, written + _CHANCE * np.sqrt(written + usual) + 1 + more / 2


def explained_lag(marks: Int64, figures: Figures) -> Floats:
    """[partition] the lag that a healthy consumer may leave when it has just advanced."""
    usual, room = usual_and_room(marks, figures)
    return usual + room


def _written(figures: Figures) -> Floats:
    rate = np.maximum(figures[Figure.PRODUCED], figures[Figure.LEVEL_RATE])
    written: Floats = np.maximum(rate, 0)
    return written


def level_ms(figures: Figures) -> Floats:
    """[partition] how late it usually is."""
    lag, rate = figures[[Figure.LEVEL_LAG, Figure.LEVEL_RATE]]
    late: Floats = np.where((lag > 0) & (rate > 0), lag * 1000.0 / np.maximum(rate, _SLOWEST), 0)
    return np.minimum(late, LONGEST_MS)


def due_ms(marks: Int64, figures: Figures) -> Int64 | int:
    """[partition] what is no later than usual is not due yet, as of a topic of delays. A few
    records may be left by chance.
    """
    lag = figures[Figure.LEVEL_LAG]
    reads_late = (lag > 3 * np.sqrt(np.maximum(lag, 0)) + 1) & BEHIND.on
    if not reads_late.any():
        return 0
    late = level_ms(figures)
    unread = marks[Mark.LOG_END] - marks[Mark.COMMITTED]
    reads_late &= (late > 2 * BY.left) & (unread <= explained_lag(marks, figures))
    return np.where(reads_late, late, 0).astype(np.int64)


def late_ms(marks: Int64, figures: Figures, lag: Int64, now: int | Int64) -> Floats:
    """[partition] how late it is, about: no longer than usual and since it was so last, and no
    longer than its lag takes to be written.
    """
    written = np.maximum(lag, 0) * 1000.0 / np.maximum(figures[Figure.PRODUCED], _SLOWEST)
    late: Floats = np.minimum(written, level_ms(figures) + span_ms(now, marks[Mark.READ_ALL_AT]))
    return late


def remaining_ms(marks: Int64, figures: Figures, lag: Int64, now: int | Int64) -> Floats:
    """[partition] until it is as late as usual, at the pace since its lag was the most; infinite
    where it comes no nearer.
    """
    more = np.maximum(lag - usual_lag(marks, figures), 0)
    read = marks[Mark.PEAK] - more
    took = span_ms(now, marks[Mark.PEAK_AT])
    left: Floats = np.where(read > 0, more * 1.0 * took / np.maximum(read, 1), np.inf)
    return left


def reads_a_burst(track: Track) -> Bools:
    """[partition] it reads twice as much as is usually written."""
    usual, consumed = track.figures[[Figure.USUALLY_PRODUCED, Figure.CONSUMED]]
    more: Bools = (usual >= 0) & (consumed > 2 * usual)
    return more


def trend(track: Track, lag: Int64, now: int | Int64) -> Int64:
    """[partition] of a lag that is told: 1 where it grows and was the most lately, -1 where
    more is read than written, and a quarter of that or it stood still before, else 0.
    """
    marks, figures = track.marks, track.figures
    more = lag - usual_lag(marks, figures)
    pause = np.maximum(figures[Figure.COMMIT_PAUSE], 0)
    rises = span_ms(now, marks[Mark.PEAK_AT]) <= 2 * BY.behind + 2 * pause
    produced = np.maximum(figures[Figure.PRODUCED], 0)
    clearly = 1.1 * produced + 3 * np.sqrt(produced / 60)  # by more than chance over a minute
    falls = (4 * more <= 3 * marks[Mark.PEAK]) | (marks[Mark.ALARM] == Alarm.CATCHES_UP)
    falls &= figures[Figure.CONSUMED] > clearly
    rises &= marks[Mark.ALARM] == Alarm.GROWS
    return np.select([falls, rises], [-1, 1])


def learn_lateness(
    marks: Int64,
    figures: Figures,
    sighting: Sighting,
    lag: Int64,
    elapsed: Int64,
    advanced: Bools,
    lost: Bools,
    stood_still: Bools,
) -> None:
    """What an advance leaves; in between any lag grows. `stood_still`: for too long, until now."""
    now = sighting.at
    # Where nobody looked for long nobody knows what an advance left: the lag has grown since.
    known = advanced & ~sighting.is_late(elapsed) & (lag >= 0) & (figures[Figure.PRODUCED] >= 0)
    _learn_first(marks, figures, lag, known, now)
    usual, explained = usual_and_room(marks, figures)
    more = np.where(lag >= 0, lag - usual, marks[Mark.PEAK])  # what nobody knows is as before
    read_all = lost | ((lag >= 0) & (more <= explained))
    marks[Mark.READ_ALL_AT] = np.where(read_all, now, marks[Mark.READ_ALL_AT])
    # What it stood still is no time in which it read too slowly.
    since = span_ms(now, marks[Mark.ADVANCED_AT])
    pause = np.maximum(figures[Figure.COMMIT_PAUSE], 0)
    stood = advanced & (since > _STANDS_MS + 2 * pause) & (marks[Mark.LEVEL_AT] >= 0)
    if stood.any():
        later = np.minimum(marks[Mark.LEVEL_AT] + since, now)
        marks[Mark.LEVEL_AT] = np.where(stood, later, marks[Mark.LEVEL_AT])
    # It is told until half is read: what is told ends at half of the room as well.
    explained = np.where(marks[Mark.ALARM] > Alarm.NOTHING, explained / 2, explained)
    was_behind = marks[Mark.PEAK] > 0
    behind = np.where(known, more > explained, was_behind & (more > explained))
    back = ~lost & (sighting.committed < marks[Mark.COMMITTED])
    level = lost | (marks[Mark.LEVEL_AT] < 0) | ((lag >= 0) & (more <= explained / 4))
    if was_behind.any() or behind.any():
        # What was deleted before it was read is no part of the backlog that was made good.
        deleted = was_behind & (marks[Mark.COMMITTED] < sighting.log_start)
        least = np.minimum(marks[Mark.PEAK], np.maximum(more, 1)).astype(np.int64)
        marks[Mark.PEAK] = np.where(deleted, least, marks[Mark.PEAK])
        _tell(marks, figures, more, known, behind, was_behind, stood_still, level, now)
    level |= back
    marks[Mark.LEVEL_AT] = np.where(level, now, marks[Mark.LEVEL_AT])
    if BEHIND.on:
        _learn_level(marks, figures, lag, more, explained, known & ~behind, elapsed)
        _learn_other_level(marks, figures, lag, known & behind, behind, stood_still, now)


def _learn_first(
    marks: Int64, figures: Figures, lag: Int64, known: Bools, now: int | Int64
) -> None:
    """Whoever is met at work is met at its level; what is written is known better every minute."""
    first = known & (figures[Figure.LEVEL_LAG] < 0)
    level = [Figure.LEVEL_LAG, Figure.VARIES]
    figures[level] = np.where(first, [lag, np.zeros_like(lag)], figures[level])
    young = (figures[Figure.LEVEL_LAG] >= 0) & (span_ms(now, marks[Mark.KNOWN_SINCE]) < _YOUNG_MS)
    rate = figures[Figure.USUALLY_PRODUCED]
    figures[Figure.LEVEL_RATE] = np.where(young | first, rate, figures[Figure.LEVEL_RATE])


def _tell(
    marks: Int64,
    figures: Figures,
    more: Floats,
    known: Bools,
    behind: Bools,
    was_behind: Bools,
    stood_still: Bools,
    level: Bools,
    now: int | Int64,
) -> None:
    """What is to be told of a backlog, and what is learnt once it is over, or half of it. Changes
    `level`: there it begins anew.
    """
    was, peak, since = marks[Mark.ALARM], marks[Mark.PEAK], marks[Mark.LEVEL_AT].copy()
    growth = span_ms(marks[Mark.PEAK_AT], since)
    ended = was_behind & ~behind
    higher = known & behind & (more > peak)
    marks[Mark.PEAK_AT] = np.where(higher, now, marks[Mark.PEAK_AT])
    most = np.where(known, np.maximum(peak, np.maximum(more, 1)), peak).astype(np.int64)
    most = np.where(behind, most, 0)
    long = span_ms(now, since) > _usual_growth_ms(marks, figures, since)
    # Where less is written than before, what is left is more of it, and less all the same.
    starts = known & behind & long & (more >= _AT_ITS_HIGHEST * most)
    starts &= figures[Figure.CONSUMED] <= figures[Figure.PRODUCED]
    late = more * 1000 / np.maximum(figures[Figure.PRODUCED], _SLOWEST) > _LATE_MS
    catches_up = behind & stood_still & late
    far = behind & (2 * more > most)
    half = behind & ~far & (was > Alarm.NOTHING)
    over = (was != Alarm.CATCHES_UP) & (ended | half)
    odd = over & (growth > BY.growth)
    marks[Mark.GROWTH] = np.maximum(marks[Mark.GROWTH], np.where(over & ~odd, growth, 0))
    learn_return(marks, odd, since, growth)
    fresh = np.where(catches_up, Alarm.CATCHES_UP, np.where(starts, Alarm.GROWS, Alarm.NOTHING))
    alarm = np.where(far & BEHIND.on, np.where(was > Alarm.NOTHING, was, fresh), Alarm.NOTHING)
    marks[Mark.ALARM] = alarm
    marks[Mark.PEAK] = np.where(half, np.maximum(more, 1), most).astype(np.int64)
    level |= ended | half


def _usual_growth_ms(marks: Int64, figures: Figures, since: Int64) -> Int64:
    """[partition] how long its lag may grow, from then on."""
    usual = np.maximum(longest(marks, Mark.GROWTH), returning_ms(marks, since, is_stop=False))
    pauses = BY.commits * np.maximum(figures[Figure.COMMIT_PAUSE], 0).astype(np.int64)
    patience: Int64 = np.maximum(np.maximum(with_room(usual), pauses), BY.behind)
    return patience


def _learn_level(
    marks: Int64,
    figures: Figures,
    lag: Int64,
    more: Floats,
    explained: Floats,
    usual: Bools,
    elapsed: Int64,
) -> None:
    """`usual`: it is not behind. What is above the level is no variation: a drift would hide in it.
    How far it varies is known by how far it is below.
    """
    below = more < -explained
    span = np.where(below, _FALLS_MS, BY.follows)
    known_ms = np.clip(span_ms(marks[Mark.SEEN_AT], marks[Mark.KNOWN_SINCE]), 10 * MIN, BY.follows)
    span = np.where((more < 0) & ~below, known_ms, span)
    # A level that is far behind has much room: what grows in it is not followed.
    span = np.where((more > 0) & (figures[Figure.LEVEL_LAG] > explained), BY.memory, span)
    share = np.where(usual, elapsed / np.maximum(elapsed + span, 1), 0)
    figures[Figure.LEVEL_LAG] += (lag - figures[Figure.LEVEL_LAG]) * share
    figures[Figure.LEVEL_RATE] += (figures[Figure.PRODUCED] - figures[Figure.LEVEL_RATE]) * share
    off = 2 * np.maximum(-more, 0) * 1000 / np.maximum(_written(figures), _SLOWEST)
    known_ms = np.minimum(known_ms, HOUR)
    share = np.where(usual & ~below, elapsed / np.maximum(elapsed + known_ms, 1), 0)
    figures[Figure.VARIES] += (np.minimum(off, LONGEST_MS) - figures[Figure.VARIES]) * share


def _learn_other_level(
    marks: Int64,
    figures: Figures,
    lag: Int64,
    known: Bools,
    behind: Bools,
    stood_still: Bools,
    now: int | Int64,
) -> None:
    """A lag that neither grows nor shrinks, by more than chance would have it, is a new level. The
    less is written the longer it takes to tell.
    """
    since, then = marks[Mark.STAYS_SINCE], figures[Figure.STAYS_LAG]
    if not (known.any() or (since >= 0).any()):  # as mostly
        return
    rate = np.maximum(figures[Figure.PRODUCED], 0)
    chance = 3 * np.sqrt(rate * span_ms(now, since) / 1000 + 1) + rate
    moved = known & ((since < 0) | stood_still | (np.abs(lag - then) > chance))
    figures[Figure.STAYS_LAG] = np.where(moved, lag, then)
    since = np.where(moved, now, np.where(behind, since, UNKNOWN))
    needed = np.clip(_SURE * 1000 / np.maximum(rate, _SLOWEST), BY.stays, BY.memory)
    # What drifts, however slowly, is never again where it was.
    stays = known & ~moved & (span_ms(now, since) >= needed) & (lag <= then)
    level = [Figure.LEVEL_LAG, Figure.LEVEL_RATE]
    figures[level] = np.where(stays, [lag, figures[Figure.PRODUCED]], figures[level])
    marks[Mark.STAYS_SINCE] = np.where(stays, UNKNOWN, since)
    marks[Mark.LEVEL_AT] = np.where(stays, now, marks[Mark.LEVEL_AT])
    marks[[Mark.PEAK, Mark.ALARM]] = np.where(stays, 0, marks[[Mark.PEAK, Mark.ALARM]])
