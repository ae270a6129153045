"""Waits: how long the offset stands still although there is something to read.

Patience: how long the offset may stand still while there is something to read.
"""

import numpy as np

from warren_core.evaluation.commit_sizes import ENOUGH, caught_up_lag, learn_sizes
from warren_core.evaluation.lateness import due_ms, explained_lag
from warren_core.evaluation.presence import Presence, end_absence, was_away
from warren_core.evaluation.rule import BY, HOUR, MIN, Rule, S
from warren_core.evaluation.track import (
    Figure,
    Figures,
    Mark,
    Sighting,
    Track,
    learn_return,
    longest,
    returning_ms,
    span_ms,
    with_room,
)
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64, Windows

HABIT = Rule(
    "habit",
    learns="the longest wait of this day and of the day before. Odd ones are longer than 5 min and "
    "2½ pauses between commits: of these, 10 min at most where they come again soon, or it commits "
    "amid a rest",
    speaks="as long, a quarter more and 10 s is no silence; nor are two pauses between commits",
    sentence="Who usually pauses has that time, and a quarter more; one commit may be left out.",
    parameters=("room", "memory", "often"),
)
FIRST = Rule(
    "first",
    learns="since when it is known",
    speaks="nobody whose members are there is told within 5 min of when it was met; who was read "
    "in a run before, within 25 min",
    sentence="Who is not known yet has five minutes from when it was first seen.",
    parameters=("first",),
)
AWAY = Rule(
    "away",
    learns="the longest wait with nobody in the group, apart from the others",
    speaks="who usually goes for longer than 45 s has that time, and a quarter more; who commits "
    "rarely has no more than 1 min 45 s once it has gone",
    sentence="Who has gone is dead, unless it usually comes and goes.",
    parameters=("gone",),
)
RESTS = Rule(
    "rests",
    learns="the last long wait, that of before Warren as well",
    speaks="who rests after a run of less than a quarter of it, that left nothing, has that time, "
    "and a quarter more",
    sentence="A job whose run leaves nothing rests as long as before.",
    parameters=("run", "rest"),
)
HELD = Rule(
    "held",
    learns="nothing",
    speaks="what a rebalance takes of a wait does not count, up to 5 min; at an open transaction a "
    "wait may take as long",
    sentence="A rebalance, or an open transaction, is no silence for five minutes.",
)
REPEATED = 2  # commits of one offset are no silence
_UNSEEN_REST_MS = 25 * 60 * S  # a job of which no rest is known may rest for so long
CHECKPOINTS_MS = 15 * 60 * S  # pauses that are longer are none between commits


def usual_gap(marks: Int64, figures: Figures) -> Int64:
    """[partition] ms between two advances that is usual at most. One pause among quick commits, as
    in a rebalance, is not.
    """
    most = np.maximum(4 * figures[Figure.COMMIT_PAUSE], 0).astype(np.int64)
    gap: Int64 = np.minimum(np.maximum(longest(marks, Mark.PAUSE), longest(marks, Mark.GOES)), most)
    return gap


def patience_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] of the wait of now; of one that begins now where nothing is to be read."""
    habit, missed = _habits(marks, figures)
    patience = np.maximum(habit, _first_ms(marks) * FIRST.on)
    goes = longest(marks, Mark.GOES)
    if AWAY.on and (goes.any() or (marks[Mark.GONE_SINCE] >= 0).any()):
        patience = _or_away_ms(marks, patience, missed, goes)
    if FIRST.on:
        ran = _is_fresh(marks) & (
            figures[Figure.CONSUMED] > BY.run * np.maximum(figures[Figure.PRODUCED], 0)
        )
        # What has been dead for long rests no more.
        patience = np.maximum(patience, ran * (_UNSEEN_REST_MS - _met_after_ms(marks)))
    if RESTS.on and (rest := marks[Mark.REST]).any():
        rested = span_ms(marks[Mark.WAITING_SINCE], marks[Mark.ADVANCED_AT])
        patience = np.maximum(patience, np.where(_rests(marks), with_room(rest) - rested, 0))
    held: Int64 = (marks[Mark.OPEN_SINCE] >= 0) * BY.first * HELD.on
    returning = np.asarray(returning_ms(marks, marks[Mark.WAITING_SINCE], is_stop=True))
    return np.maximum(np.maximum(patience + due_ms(marks, figures), held), with_room(returning))


def _habits(marks: Int64, figures: Figures) -> tuple[Int64, Int64]:
    """[partition] what waits of before excuse; and how long one is where a commit is left out."""
    pause = longest(marks, Mark.PAUSE) * HABIT.on
    mean = np.minimum(np.maximum(figures[Figure.COMMIT_PAUSE], 0).astype(np.int64), pause)
    mean = np.where(mean <= CHECKPOINTS_MS, mean, 0)
    missed = mean + with_room(mean)
    return np.maximum(np.maximum(with_room(pause), missed), BY.least_wait), missed


def _is_fresh(marks: Int64) -> Int64:
    """[partition] it has not advanced since it is known."""
    fresh: Int64 = marks[Mark.ADVANCED_AT] == marks[Mark.KNOWN_SINCE]
    return fresh


def _first_ms(marks: Int64) -> Int64:
    """Waits within a window do not tell how long one is between two: known is who was watched."""
    watched = span_ms(marks[Mark.WAITING_SINCE], marks[Mark.KNOWN_SINCE])
    # Who was met waiting is told within five minutes of then.
    before = np.minimum(_met_after_ms(marks), BY.least_wait)
    first: Int64 = BY.first - np.where(_is_fresh(marks), before, watched)
    return first


def _met_after_ms(marks: Int64) -> Int64:
    """[partition] of who was met waiting: since its last commit."""
    return span_ms(marks[Mark.WAITING_SINCE], marks[Mark.REST_AT])


def _or_away_ms(marks: Int64, patience: Int64, missed: Int64, goes: Int64) -> Int64:
    """[partition] the patience where somebody has gone, or may have since one looked."""
    gone, there, waiting = marks[[Mark.GONE_SINCE, Mark.THERE_SINCE, Mark.WAITING_SINCE]]
    usually = with_room(goes)
    comes_and_goes = goes > BY.least_wait
    # Nobody looks at members all the time; who has just come may take its time.
    there_ms = np.where(comes_and_goes, np.maximum(patience, BY.least_wait + 30 * S), patience)
    there_ms = np.where(marks[Mark.ABSENT] > 0, np.maximum(there_ms, usually), there_ms)
    before = np.where(waiting >= 0, span_ms(gone, waiting), 0)
    least = np.clip(missed, BY.least_wait, BY.least_wait + BY.gone)
    away = np.minimum(before + least, patience)
    met_dead = (marks[Mark.WAITS] > 0) | (_met_after_ms(marks) >= _UNSEEN_REST_MS)
    met_dead &= there < 0
    away = np.where(met_dead, np.maximum(least, BY.gone), away)
    known = met_dead | ((there >= 0) & (gone - there >= BY.first)) | comes_and_goes
    known |= before > patience  # who was told is not well because it has gone
    away = np.where(known, away, np.maximum(away, BY.first))
    away = np.where(comes_and_goes, np.maximum(away, usually), away)
    return np.where(gone >= 0, away, there_ms)


def _rests(marks: Int64) -> Int64:
    """[partition] its last run was short and left nothing; records may have come later."""
    run = span_ms(marks[Mark.ADVANCED_AT], marks[Mark.REST_AT])
    rests: Int64 = (marks[Mark.WAITING_SINCE] >= 0) & (run < marks[Mark.REST] // BY.run)
    rests &= (marks[Mark.READ_ALL_AT] >= marks[Mark.ADVANCED_AT]) & (marks[Mark.REPEATS] < REPEATED)
    return rests


_LEFT_OUT = 2.5  # pauses: a checkpoint failed
_OFTEN = 8  # what begins within so many of its lengths again comes often
BEFORE_MS = 6 * HOUR  # the longest pause of before Warren that is believed
_LONG_MS = MIN  # waits that tell runs apart
_PAUSES = 3  # between commits: so long they are as well
# What is known of who reads, and not of what is read.
_HABITS = np.array(
    [
        *(Mark.WAITS, Mark.PAUSE, Mark.PAUSE_BEFORE, Mark.GOES, Mark.GOES_BEFORE, Mark.DAY_AT),
        *(Mark.REST, Mark.REST_AT, Mark.THERE_SINCE),
    ]
)


def inherit(track: Track, new: Bools, topic: slice) -> None:
    """New partitions of a topic, and those that nobody has committed, take the habits of that
    sibling which waits the longest, where it is known how long one may.
    """
    marks, figures = track.marks[:, topic], track.figures[:, topic]
    known = ~new[topic] & (marks[Mark.WAITS] >= ENOUGH)
    known &= span_ms(marks[Mark.SEEN_AT], marks[Mark.KNOWN_SINCE]) >= BY.first
    heirs = new[topic] & (marks[Mark.COMMITTED] >= 0)
    if not (known.any() and heirs.any()):
        return
    longest = marks[[Mark.PAUSE, Mark.PAUSE_BEFORE, Mark.GOES, Mark.GOES_BEFORE]].max(axis=0)
    sibling = int(np.where(known, longest, -1).argmax())
    heirs_at = np.flatnonzero(heirs)
    marks[np.ix_(_HABITS, heirs_at)] = marks[_HABITS, sibling][:, None]
    marks[Mark.KNOWN_SINCE, heirs_at] -= BY.first  # as if they were known, and had advanced
    figures[Figure.COMMIT_PAUSE, heirs_at] = figures[Figure.COMMIT_PAUSE, sibling]


def expect(track: Track, windows: Windows) -> None:
    """Of partitions that were seen for the first time: the waits that their commits of before tell,
    and how fast they were read. Commits of one offset tell none.
    """
    times, offsets = windows.column(Column.COMMITTED_AT), windows.column(Column.OFFSET)
    advanced = windows.occupied[:, :-1] & (np.diff(offsets, axis=1) > 0)
    apart = np.where(advanced, np.diff(times, axis=1), 0)
    count = advanced.sum(axis=1)
    marks, figures = track.marks, track.figures
    known_since, seen_at = marks[[Mark.KNOWN_SINCE, Mark.SEEN_AT]]
    first = (known_since >= 0) & (known_since == seen_at) & (marks[Mark.WAITS] == 0) & (count > 1)
    longest = np.minimum(apart.max(axis=1, initial=0), BEFORE_MS)
    took = np.maximum(apart.sum(axis=1), 1)
    read = np.where(advanced, np.diff(offsets, axis=1), 0).sum(axis=1) * 1000.0 / took
    marks[Mark.PAUSE] = np.where(first, longest, marks[Mark.PAUSE])
    marks[Mark.WAITS] = np.where(first, np.minimum(count, ENOUGH), marks[Mark.WAITS])
    paces = [Figure.COMMIT_PAUSE, Figure.CONSUMED]
    figures[paces] = np.where(first, [took / np.maximum(count, 1), read], figures[paces])


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
    still for too long until now.
    """
    now, since = sighting.at, marks[Mark.WAITING_SINCE]
    # Whoever could not look does not know what took so long: no client is to be blamed for it.
    unseen = np.where(sighting.is_late(elapsed), elapsed - sighting.pace_ms, 0)
    # What came and was read between two observations took that long at most.
    wait = np.maximum(np.where(since >= 0, span_ms(now, since), elapsed) - unseen, 0)
    ended = advanced & sure
    too_long = (since >= 0) & (wait > patience_ms(marks, figures))
    _remember(marks, figures, wait, ended, now)
    marks[Mark.WAITS] = np.minimum(marks[Mark.WAITS] + ended, ENOUGH)
    learn_sizes(marks, sighting, ended)
    end_absence(marks, now, advanced)
    waiting = lag > caught_up_lag(marks, sighting.presence, sighting.allowed_lag)
    # A step back does not excuse who was found standing still: nobody has read on.
    moved = advanced | (sighting.committed < marks[Mark.COMMITTED]) & ~too_long
    stands = (since >= 0) & ~moved
    # What nobody saw was no rebalance that anybody saw: its allowance is for the one of now.
    excused = _rebalanced_ms(marks, sighting, stands, elapsed - unseen) + unseen
    closed = _learn_open(marks, figures, sighting, stands) & ~too_long
    since = np.where(moved | closed | (since < 0), now, since + excused)
    marks[Mark.WAITING_SINCE] = np.where(waiting, since, UNKNOWN)
    marks[Mark.REBALANCED] = np.where(moved | ~waiting, 0, marks[Mark.REBALANCED])
    stood: Bools = ended & too_long
    return stood


def _remember(marks: Int64, figures: Figures, wait: Int64, ended: Bools, now: int | Int64) -> None:
    """One that is longer than five minutes may be an accident: it is no habit, unless it comes
    often, or a commit of many was left out. The rest of a job is known apart.
    """
    _turn_day(marks, now)
    began, away = now - wait, was_away(marks, wait, now)
    mean = np.maximum(figures[Figure.COMMIT_PAUSE], 0)
    checkpoint = np.where(mean <= CHECKPOINTS_MS, _LEFT_OUT * mean, 0).astype(np.int64)
    odd = ended & (wait > np.maximum(BY.first, checkpoint))
    at, length = marks[[Mark.RETURN_AT, Mark.RETURN_LENGTH]]
    often = (at >= 0) & (span_ms(began, at) <= _OFTEN * wait) & (wait <= BY.often)
    often &= 3 * length >= wait
    is_job = _learn_rest(marks, wait, ended, away | (wait >= _PAUSES * mean), now)
    # Who commits its offset amid a rest is there, as who reads whole windows.
    often |= is_job & (marks[Mark.REPEATS] >= REPEATED) & (wait <= BY.often)
    usual = ended & (~odd | often)
    for mark, such in ((Mark.PAUSE, ~away), (Mark.GOES, away)):
        marks[mark] = np.where(usual & such, np.maximum(marks[mark], wait), marks[mark])
    learn_return(marks, odd & ~is_job, began, wait)


def _turn_day(marks: Int64, now: int | Int64) -> None:
    """What was of this day is of the day before."""
    old = span_ms(now, marks[Mark.DAY_AT]) >= BY.memory
    if not old.any():  # as mostly
        return
    for mark in (Mark.PAUSE, Mark.GOES, Mark.GROWTH):
        marks[mark + 1] = np.where(old, marks[mark], marks[mark + 1])
        marks[mark] = np.where(old, 0, marks[mark])
    marks[Mark.DAY_AT] = np.where(old, now, marks[Mark.DAY_AT])


def _learn_rest(marks: Int64, wait: Int64, ended: Bools, long: Bools, now: int | Int64) -> Bools:
    """[partition] this wait was the rest of a job: its run before was short, and left nothing.
    `long`: it is longer than between commits, or nobody was there.
    """
    rest, rest_at, known_since = marks[[Mark.REST, Mark.REST_AT, Mark.KNOWN_SINCE]]
    # One that was met waiting has done so since its last commit, as far as anybody knows.
    met = (marks[Mark.ADVANCED_AT] == known_since) & (rest_at <= known_since)
    # Of another it counts from the end of its run: records of quiet topics come amid a rest.
    advanced_at = marks[Mark.ADVANCED_AT]
    whole = np.where(met, np.maximum(wait, span_ms(now, rest_at)), span_ms(now, advanced_at))
    is_short = (rest_at >= 0) & (span_ms(advanced_at, rest_at) < whole // BY.run)
    is_job: Bools = ended & long & ~met & is_short & (marks[Mark.READ_ALL_AT] >= advanced_at)
    long = ended & (long | met) & (np.where(met, whole, wait) >= _LONG_MS)
    believed = np.where(is_job, whole, np.minimum(whole, BY.rest))
    marks[Mark.REST] = np.where(long, believed, rest)
    marks[Mark.REST_AT] = np.where(long, now, rest_at)
    return is_job


def _rebalanced_ms(marks: Int64, sighting: Sighting, waits: Bools, elapsed: Int64) -> Int64 | int:
    """[partition] how much of the time since the last observation a rebalance took that a wait is
    not to be blamed for; noted.
    """
    if not (HELD.on and np.any(sighting.presence == Presence.REBALANCING)):
        return 0
    rebalances = waits & (sighting.presence == Presence.REBALANCING)
    took: Int64 = np.where(rebalances, np.minimum(elapsed, BY.first - marks[Mark.REBALANCED]), 0)
    marks[Mark.REBALANCED] += took
    return took


def _learn_open(marks: Int64, figures: Figures, sighting: Sighting, stands: Bools) -> Bools:
    """Note since when it stands where a transaction is open; [partition] that has just ended. Who
    commits what it was given stays before aborted records and markers: no more than a healthy one
    may leave.
    """
    stable, since = sighting.last_stable, marks[Mark.OPEN_SINCE].copy()
    if not np.any(np.asarray(stable) >= 0) and not (since >= 0).any():
        return np.zeros_like(stands)  # as mostly
    is_open = (stable >= 0) & (stable < sighting.log_end)
    held = stands & is_open & (sighting.committed + explained_lag(marks, figures) >= stable)
    held |= stands & (since >= 0) & (np.asarray(stable) < 0)  # nobody knows: as before
    marks[Mark.OPEN_SINCE] = np.where(held, np.where(since >= 0, since, sighting.at), UNKNOWN)
    closed: Bools = stands & (since >= 0) & ~held
    return closed
