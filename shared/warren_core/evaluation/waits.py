"""Waits: how long the offset stands still although there is something to read."""

from typing import Literal

import numpy as np

from warren_core.evaluation.commit_sizes import learn_part, learn_sizes
from warren_core.evaluation.loops import learn_loop
from warren_core.evaluation.presence import end_absence, learn_daily, rebalanced_ms, was_away
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import (
    AGAIN,
    ASSUMED,
    Figure,
    Figures,
    Mark,
    Sighting,
    Track,
    span_ms,
)
from warren_core.evaluation.usual import (
    HABIT,
    RUNS,
    UNLEARNT,
    caught_up_lag,
    explained_lag,
    longest_habit_ms,
    or_daily_ms,
    patience_at_any_time_ms,
)
from warren_core.evaluation.windows import UNKNOWN, Bools, Column, Int64, Windows


def learn_open(
    marks: Int64, figures: Figures, sighting: Sighting, stands: Bools, elapsed: Int64
) -> None:
    """Note how much of this wait it stands where a transaction is open. Who commits what it was
    given stays before aborted records and markers: no more than a healthy one may leave.
    """
    stable, since = sighting.last_stable, marks[Mark.OPEN_SINCE]
    if not np.any(stable >= 0) and not (since >= 0).any() and not marks[Mark.HELD].any():
        return  # as mostly
    is_open = (stable >= 0) & (stable < sighting.log_end)
    reached = explained_lag(marks, figures, sighting.allowed_lag)
    held = stands & is_open & (sighting.committed + reached >= stable)
    held |= stands & (since >= 0) & (np.asarray(stable) < 0)  # nobody knows: as before
    marks[Mark.HELD] = np.where(stands, marks[Mark.HELD] + np.where(held, elapsed, 0), 0)
    marks[Mark.OPEN_SINCE] = np.where(held, np.where(since >= 0, since, sighting.at), UNKNOWN)


def was_held(marks: Int64, wait: Int64) -> Bools:
    """[partition] an open transaction took most of this wait."""
    held: Bools = 2 * marks[Mark.HELD] > wait
    return held


SIBLING = Rule(
    "sibling",
    learns="nothing",
    speaks="a partition that a topic has gained has the habits of the one that waits the longest",
    sentence="A new partition is read as its siblings are.",
)
FIRST_WAIT = 1
# What is known of who reads, and not of what is read.
_HABITS = np.array(
    [
        Mark.WAITS,
        Mark.PAUSE,
        Mark.PAUSE_AT,
        Mark.GOES,
        Mark.OPEN,
        Mark.GOES_AT,
        Mark.ODD_PAUSE,
        Mark.ODD_AT,
        Mark.ODD_APART,
        Mark.REPEATING,
        Mark.REST,
        Mark.REST_AT,
        Mark.THERE_SINCE,
    ]
)
_PACES = np.array([Figure.COMMIT_PAUSE, Figure.DAILY])


def inherit(track: Track, new: Bools, topic: slice) -> None:
    """New partitions of a topic, and those that nobody has committed, take the habits of that
    sibling which waits the longest, where it is known how long one may.
    """
    marks, figures = track.marks[:, topic], track.figures[:, topic]
    known = ~new[topic] & (marks[Mark.WAITS] >= BY.known_waits)
    heirs = new[topic] & (marks[Mark.COMMITTED] >= 0)
    if not (SIBLING.on and known.any() and heirs.any()):
        return
    habit = np.where(known, longest_habit_ms(marks, figures), -1)
    sibling = int(habit.argmax())
    heirs_at = np.flatnonzero(heirs)
    marks[np.ix_(_HABITS, heirs_at)] = marks[_HABITS, sibling][:, None]
    figures[np.ix_(_PACES, heirs_at)] = figures[_PACES, sibling][:, None]


def expect(track: Track, windows: Windows) -> None:
    """Of partitions that were seen for the first time: the longest pause between their commits of
    before, until waits are known. Of the first one nobody saw the beginning.
    """
    if not UNLEARNT.on:
        return
    times = windows.column(Column.COMMITTED_AT)
    apart = np.where(windows.occupied[:, :-1], np.diff(times, axis=1), 0)
    longest = np.minimum(apart.max(axis=1, initial=0), BY.earlier)
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
    too_long = wait > or_daily_ms(marks, figures, at_any_time)
    learn_sizes(marks, sighting, ended)
    learnt = _remember_pause(marks, figures, wait, ended, wait > at_any_time, sighting.at)
    end_absence(marks, sighting.at, advanced)
    if RUNS.on:
        _learn_rest(marks, wait, elapsed, advanced, ended, sighting.at)
    repeats = ended & learnt & (marks[Mark.REPEATS] >= BY.repeated) & (marks[Mark.HELD] == 0)
    _remember(marks, Mark.REPEATING, wait, wait, repeats)
    marks[Mark.WAITS] = np.minimum(marks[Mark.WAITS] + ended, BY.known_waits)
    waiting = lag > caught_up_lag(marks, sighting.allowed_lag)
    # A step back does not excuse who was found standing still: nobody has read on.
    back = sighting.committed < marks[Mark.COMMITTED]
    moved = advanced | back & ~(too_long & (since >= 0))
    stands = (since >= 0) & ~moved
    # What nobody saw was no rebalance that anybody saw: its allowance is for the one of now.
    excused = rebalanced_ms(marks, sighting, stands, elapsed - unseen) + unseen
    learn_open(marks, figures, sighting, stands, elapsed)
    excused = excused + learn_part(marks, sighting, lag, stands, at_any_time)
    since = np.where(moved | (since < 0), sighting.at, since + excused)
    marks[Mark.WAITING_SINCE] = np.where(waiting, since, UNKNOWN)
    was_long: Bools = ended & (too_long | (marks[Mark.REBALANCED] > BY.least_wait))
    marks[Mark.REBALANCED] = np.where(moved | ~waiting, 0, marks[Mark.REBALANCED])
    return was_long


def _remember_pause(
    marks: Int64,
    figures: Figures,
    wait: Int64,
    ended: Bools,
    too_long: Bools,
    now: int | Int64,
) -> Bools:
    """One that was too long may be an accident. A second one, soon after or hours later, shows a
    habit, but what is longer than a crash may be never does. What a rebalance may take is one at
    once. [partition] whether it was learnt.
    """
    odd = marks[Mark.ODD_PAUSE]
    began = now - wait
    apart = span_ms(began, marks[Mark.ODD_AT])
    before = np.maximum(odd - apart // BY.odd_memory, 0)
    pause = marks[Mark.PAUSE]
    # One that comes often is no crash; and a commit of many may be left out, as of a checkpoint.
    longest = np.where(apart <= BY.often * wait, BY.longest_often, BY.long)
    longest = np.maximum(longest, np.where(pause <= BY.unseen, pause * 5 // 2, 0))
    # A transaction that has ended by itself was none that hangs.
    held = was_held(marks, wait)
    longest = np.where(held, BY.unseen, longest)
    absent = was_away(marks, wait, now)
    job = _is_job(marks, wait, began, absent)
    at_once = np.where(held, BY.longest_often, BY.rebalance)
    habit = (before >= wait // 3) & (wait <= longest) | (wait <= at_once)
    habit &= HABIT.on
    seen = wait & ~ASSUMED
    assumed = np.where(wait < BY.rebalances, BY.rebalances + ASSUMED, seen)
    learnt = np.where(too_long, np.where(habit, assumed, 0), seen)
    # From here on it is known what was only expected: nobody has seen so long a pause.
    if (first := ended & (marks[Mark.WAITS] == FIRST_WAIT)).any():
        first &= marks[Mark.PAUSE] > span_ms(now, marks[Mark.KNOWN_SINCE])
        marks[Mark.PAUSE] = np.where(first, 0, marks[Mark.PAUSE])
    own = ended & ~absent & ~held & (marks[Mark.PART] == 0)
    _remember_longest(marks, Mark.PAUSE, wait, learnt, own, ended, now)
    if held.any() or marks[Mark.OPEN].any():
        _remember(marks, Mark.OPEN, wait, np.where(habit, seen, learnt), ended & ~absent & held)
    if absent.any() or marks[Mark.GOES].any():
        _remember_longest(marks, Mark.GOES, wait, learnt, ended & absent, ended, now)
    crashed = ended & too_long & (wait > BY.long)
    noted = ended & too_long & (wait >= before) | crashed & (wait >= before // 2)
    due = learn_daily(marks, figures, wait, crashed, now)
    noted &= ~due
    may_stop = ended & ~due & ~job & ~held
    stopped = np.where(absent, too_long | (wait >= BY.lately), too_long & ~habit)
    learn_loop(marks, wait, stopped & may_stop, absent & may_stop, now)
    marks[Mark.ODD_PAUSE] = np.where(noted, wait, odd)
    marks[Mark.ODD_APART] = np.where(noted & (odd > 0), apart, marks[Mark.ODD_APART])
    marks[Mark.ODD_AT] = np.where(noted, began, marks[Mark.ODD_AT])
    known: Bools = ~too_long | habit
    return known


def _is_job(marks: Int64, wait: Int64, began: Int64, absent: Bools) -> Bools:
    """[partition] this wait was a rest: it had worked for a short time before, and left nothing.
    Whose members wait nearly as long is no job that comes and goes.
    """
    length = wait // BY.run_share
    run = span_ms(began, marks[Mark.REST_AT])
    job: Bools = (run < length) & (marks[Mark.READ_ALL_AT] >= marks[Mark.ADVANCED_AT])
    job &= ~(absent & (marks[Mark.PAUSE] >= length))
    return job


def _remember_longest(
    marks: Int64,
    mark: Literal[Mark.PAUSE, Mark.GOES],
    wait: Int64,
    learnt: Int64,
    such: Bools,
    ended: Bools,
    now: int | Int64,
) -> None:
    """Those which are `such` are known for a while, and for longer if they come again. Whoever
    commits again and again forgets them soon after; not at once whoever commits rarely.
    """
    at_mark = Mark.PAUSE_AT if mark is Mark.PAUSE else Mark.GOES_AT
    longest, at, advanced_at = marks[[mark, at_mark, Mark.ADVANCED_AT]]
    since = np.maximum(at, marks[Mark.KNOWN_SINCE])
    kept = np.maximum(BY.usual, BY.kept * longest)
    share = np.minimum(span_ms(now, advanced_at) * BY.known_waits / kept, 1 / BY.known_waits)
    lost = np.where(span_ms(now, since) > kept, longest * share, 0).astype(np.int64)
    faded = np.where(ended, np.maximum(longest - (lost & ~ASSUMED), 0), longest)
    marks[mark] = np.where(such, np.maximum(faded, learnt), faded)
    again = (wait > BY.least_wait) & (longest > 0)
    since = np.where(again, np.maximum(since, now + BY.turns * span_ms(now, since)), since)
    since = np.where(learnt >= faded, np.maximum(since, now), since)
    marks[at_mark] = np.where(such, since, at)


def _remember(marks: Int64, mark: Mark, wait: Int64, learnt: Int64, ended: Bools) -> None:
    faded = np.maximum(marks[mark] - (wait // BY.memory & ~ASSUMED), 0)
    marks[mark] = np.where(ended, np.maximum(faded, learnt), marks[mark])


def _learn_rest(
    marks: Int64, wait: Int64, elapsed: Int64, advanced: Bools, ended: Bools, now: int | Int64
) -> None:
    """Whether it works in runs: little of the time since the long wait before. Who reads on once it
    has read all does not, unless it did so, and rested again, the run before.
    """
    rest = marks[Mark.REST]
    if rest.any():
        reads_on = advanced & (marks[Mark.READ_ALL_AT] == marks[Mark.SEEN_AT])
        reads_on &= (rest & AGAIN) == 0
        shorter = np.maximum(rest - BY.reads_on * elapsed, np.minimum(rest, BY.batch * 3 // 4))
        rest = marks[Mark.REST] = np.where(reads_on, shorter, rest)
    if not (ended & ((wait >= BY.soon) | (marks[Mark.WAITS] == 0))).any():  # as mostly
        return
    wait, rest_at = _since_last_commit(marks, wait)
    long = ended & (wait >= BY.soon)
    run = span_ms(now, rest_at) - wait
    came = wait & ~AGAIN | (rest > 0)  # a rest that follows another
    marks[Mark.REST] = np.where(long, np.where(run < wait // BY.run_share, came, 0), rest)
    marks[Mark.REST_AT] = np.where(long, now, marks[Mark.REST_AT])


def _since_last_commit(marks: Int64, wait: Int64) -> tuple[Int64, Int64]:
    """[partition] the wait and REST_AT. One that was met waiting has done so since its last commit;
    of another nothing is known of before.
    """
    rest_at, known_since = marks[[Mark.REST_AT, Mark.KNOWN_SINCE]]
    unseen = rest_at < known_since
    met_after = marks[Mark.WAITING_SINCE] - marks[Mark.REBALANCED] - known_since
    met = unseen & (marks[Mark.WAITS] == 0) & (marks[Mark.WAITING_SINCE] >= 0)
    met &= met_after <= BY.least_wait
    wait = wait + np.where(met, marks[Mark.WAITING_SINCE] - rest_at, 0)
    return wait, np.where(unseen & ~met, known_since, rest_at)
