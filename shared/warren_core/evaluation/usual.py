"""What is usual for each partition, by what was learnt of it, and what is therefore too much."""

from collections.abc import Callable

import numpy as np

from warren_core.evaluation.level import LEVEL, level_ms, written_at
from warren_core.evaluation.loops import may_loop
from warren_core.evaluation.presence import (
    AWAY,
    DAILY,
    daily_ms,
    excused_ms,
    has_gone,
    was_absent,
    with_room,
)
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import LONGEST_MS, Figure, Figures, Floats, Mark, span_ms
from warren_core.evaluation.windows import Int64

HABIT = Rule(
    "habit",
    learns="the longest wait of late; one that was told only if a second one follows, up to 5 min, "
    "9 of what comes often, and 2½ pauses (a checkpoint that failed)",
    speaks="as long as that, a third more and up to 40 s, is no silence; nor are two pauses of "
    "regular commits, and as much more; one pause is forgotten after an hour",
    sentence="Who usually pauses has that time, and a third more; one commit may be left out.",
    parameters=("room", "kept", "memory", "odd_memory", "often", "longest_often", "rebalances"),
)
UNLEARNT = Rule(
    "unlearnt",
    learns="how many waits it has seen, and how long ago the last commit of before was",
    speaks="the fewer the longer a wait may take; of one not seen to work, as a batch may rest",
    sentence="Who is not known yet has five minutes, or a quarter of an hour.",
    parameters=("known_waits", "unseen", "batch", "earlier"),
)
NEW = Rule(
    "new",
    learns="since when members are there",
    speaks="members met less than 10 min ago, who have worked for less than 2, have 5 min",
    sentence="New members may take five minutes to begin.",
    parameters=("new", "lately"),
)
RUNS = Rule(
    "runs",
    learns="how long it rested before a short run that left nothing",
    speaks="it rests again after such a run: as long, and a third more, 25 min at least; "
    "who reads on after its first run need not",
    sentence="A job whose run ends with nothing left may rest as long as before.",
    parameters=("run_share", "reads_on"),
)


TRANSACTION = Rule(
    "transaction",
    learns="the longest wait of late at an open transaction, apart from the others; one that was "
    "told, and is longer than 9 min, only if a second one follows, up to 15",
    speaks="who stands at an open transaction has as long as that, a third more and up to 40 s; "
    "90 s at least",
    sentence="Nobody reads beyond an open transaction; one that is open for longer than usual "
    "hangs.",
    parameters=("open",),
)


def caught_up_lag(marks: Int64, allowed_lag: int | Int64) -> Int64:
    """[partition] the largest lag of a consumer that has read everything."""
    caught_up: Int64 = np.maximum(marks[Mark.RESTING] >= 0, allowed_lag)
    return caught_up


def patience_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long the offset may stand still while there is something to read."""
    at_any_time = patience_at_any_time_ms(marks, figures, may_be_deployed=True)
    return or_daily_ms(marks, figures, at_any_time)


def or_daily_ms(marks: Int64, figures: Figures, at_any_time: Int64) -> Int64:
    """[partition] the patience, since what comes each day may take longer, and what is not older
    than usual is not due yet.
    """
    daily = excused_ms(marks, figures) if DAILY.on else 0
    return np.maximum(at_any_time, daily) + _due_ms(marks, figures)


def _due_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] so much later than it is written it reads: a topic of delays, which has gaps. A
    few records may be left by chance.
    """
    usually, left = level_ms(figures), usual_lag(figures)
    reads_late = (usually > BY.least_pause) & (left > by_chance(left))
    if not reads_late.any():  # as mostly
        return np.zeros(len(left), np.int64)
    lag = marks[Mark.LOG_END] - marks[Mark.COMMITTED]
    young = lag <= explained_lag(marks, figures, 0)
    return np.where(reads_late & young, usually, 0).astype(np.int64)


def by_chance(records: Floats) -> Floats:
    """[partition] so many more may come by chance where so many come."""
    more: Floats = 3 * np.sqrt(records) + 1
    return more


def patience_at_any_time_ms(
    marks: Int64, figures: Figures, *, may_be_deployed: bool = False
) -> Int64:
    """[partition] the longest that a rule allows, whatever comes each day; less of who has gone.
    `may_be_deployed`: but as long as a new version takes, which is no trouble, nor a habit.
    """
    patience = np.full(marks.shape[1], BY.least_wait, np.int64)
    for rule, allows in ALLOWANCES:
        if rule.on:
            np.maximum(patience, allows(marks, figures), out=patience)
    if TRANSACTION.on and (held := marks[Mark.HELD]).any():
        is_open, usual = marks[Mark.OPEN_SINCE] >= 0, open_ms(marks)
        # Once it is over, who reads has its own time again.
        after = patience + np.minimum(held, usual)
        patience = np.where(is_open, np.maximum(patience, usual), after)
    if AWAY.on and (marks[Mark.GONE_SINCE] >= 0).any():
        away = _deployed_ms(marks, figures) if may_be_deployed else BY.least_wait
        # [partition] how long it may stand still where nobody is there who was there for long.
        gone = marks[Mark.GONE_SINCE]
        before = np.where(
            marks[Mark.WAITING_SINCE] >= 0, span_ms(gone, marks[Mark.WAITING_SINCE]), 0
        )
        until: Int64 = before + away + marks[Mark.GOES] * 3 // 2
        patience = np.minimum(patience, np.where(has_gone(marks), until, LONGEST_MS))
    return patience


def open_ms(marks: Int64) -> Int64:
    """[partition] how long a transaction may stay open."""
    usual: Int64 = np.maximum(BY.open, with_room(marks[Mark.OPEN]))
    return usual


def began_to_wait(marks: Int64) -> Int64:
    """[partition] when this wait began: what does not count of it makes nobody older."""
    began: Int64 = marks[Mark.WAITING_SINCE] - marks[Mark.PART]
    return began


def _unlearnt_ms(marks: Int64, _: Figures) -> Int64 | int:
    waits = marks[Mark.WAITS]
    if not (missing := BY.known_waits - waits).any():  # as mostly
        return 0
    least: Int64 = BY.long * missing // BY.known_waits
    if (unseen := waits == 0).any():
        age = span_ms(began_to_wait(marks), marks[Mark.COMMITTED_AT])
        # Who was there when it was met, and has gone, does not rest as who was never met.
        left = (marks[Mark.GONE_SINCE] >= 0) & (marks[Mark.THERE_SINCE] >= 0)
        whole = np.clip(BY.batch - age, BY.long, np.where(left, BY.long, BY.unseen))
        whole = np.where((age >= BY.batch) & was_absent(marks), BY.soon, whole)
        least = np.where(unseen, whole, least)
    return least


def _runs_ms(marks: Int64, _: Figures) -> Int64 | int:
    """It has worked for a short time after a long wait, has read all, and nobody knows yet how long
    such a wait usually is.
    """
    rest = marks[Mark.REST]
    if not rest.any():
        return 0
    run = span_ms(began_to_wait(marks), marks[Mark.REST_AT])
    read_all = marks[Mark.READ_ALL_AT] >= marks[Mark.ADVANCED_AT]
    rests = (run < rest // BY.run_share) & read_all & (marks[Mark.REPEATS] < BY.repeated)
    rests &= with_room(longest_wait(marks)) < rest  # else the habit excuses as much
    return np.where(rests, np.maximum(BY.batch, with_room(rest)), 0)


def _new_ms(marks: Int64, _: Figures) -> Int64 | int:
    """Its members have been known for a short time only, have not worked all of it, and are there:
    one that does not commit just now may do so again soon.
    """
    waits, there = began_to_wait(marks), marks[Mark.THERE_SINCE]
    since = waits - there  # who waited long before anybody looked for members is not new
    new = (there >= 0) & (waits >= 0) & (since < BY.new) & (since >= -BY.soon)
    if not new.any():  # as mostly
        return 0
    worked = waits - np.maximum(there, marks[Mark.REST_AT])
    new &= (marks[Mark.WAITS] < BY.known_waits) | (worked < BY.lately)
    new &= (marks[Mark.REPEATS] < BY.repeated) & ~was_absent(marks)
    return np.where(new, BY.long, 0)


def _first_ms(marks: Int64, figures: Figures) -> Int64 | int:
    """Who has read all, and is always as late, reads what comes next when it is as old as ever. Of
    a log that was at rest few records are known, and none of late: time alone tells.
    """
    usually = level_ms(figures)
    late = (usually > BY.least_pause) & (usually > 2 * figures[Figure.VARIES])
    late &= marks[Mark.READ_ALL_AT] >= marks[Mark.ADVANCED_AT]
    return np.where(late, with_room(usually.astype(np.int64)), 0) if late.any() else 0


def _away_ms(marks: Int64, _: Figures) -> Int64 | int:
    """Who waits long without members need not with them, but may have gone since one looked."""
    goes = marks[Mark.GOES]
    if not goes.any():
        return 0
    least = np.where(goes > BY.least_wait, BY.least_wait + BY.soon, 0)
    return np.where(was_absent(marks), with_room(goes), least)


def _habit_ms(marks: Int64, figures: Figures) -> Int64:
    """One commit of those that come regularly may be left out, as when a checkpoint fails."""
    pause = marks[Mark.PAUSE]
    mean = np.clip(figures[Figure.COMMIT_PAUSE].astype(np.int64), 0, pause)
    allowed: Int64 = np.maximum(with_room(pause), mean + with_room(mean))
    return allowed


ALLOWANCES: tuple[tuple[Rule, Callable[[Int64, Figures], Int64 | int]], ...] = (
    (HABIT, _habit_ms),
    (UNLEARNT, _unlearnt_ms),
    (NEW, _new_ms),
    (RUNS, _runs_ms),
    (LEVEL, _first_ms),
    (AWAY, _away_ms),
)


def repeating_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long it may commit the same offset while there is something to read."""
    unknown = marks[Mark.WAITS] < BY.known_waits
    least = np.where(unknown, BY.soon, BY.stands)
    learnt: Int64 = np.maximum(least, marks[Mark.REPEATING] * 3 // 2)
    learnt = np.maximum(learnt, _first_ms(marks, figures))
    learnt = learnt + marks[Mark.HELD] + _due_ms(marks, figures)
    excused = (marks[Mark.REPEATS] < BY.repeated) | (marks[Mark.OPEN_SINCE] >= 0)
    return np.where(excused, LONGEST_MS, learnt)


def longest_wait(marks: Int64) -> Int64:
    """[partition] of late, with members or without, at any time."""
    longest: Int64 = np.maximum(marks[Mark.PAUSE], marks[Mark.GOES])
    return longest


def longest_habit_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] the longest wait of late, those of each day among them."""
    longest: Int64 = np.maximum(longest_wait(marks), daily_ms(marks, figures))
    return longest


def _deployed_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long all members may be away before it is told: a new version of who commits
    rarely misses no commit by it. What is not told so teaches what it did: a crash loop is no
    habit.
    """
    mean = np.clip(figures[Figure.COMMIT_PAUSE].astype(np.int64), 0, BY.soon)
    away = np.clip(with_room(mean), BY.least_wait, BY.least_wait + BY.soon)
    return np.where(may_loop(marks, marks[Mark.GONE_SINCE]), BY.least_wait, away)


def remaining_ms(marks: Int64, figures: Figures, lag: Int64, now: int | Int64) -> Floats:
    """[partition] until it is as late as usual, at the pace since it fell behind; infinite where it
    comes no nearer.
    """
    more = np.maximum(lag - usual_lag(figures), 0)
    read = marks[Mark.PEAK] - more
    behind = span_ms(now, marks[Mark.BEHIND_SINCE])
    left: Floats = np.where(read > 0, more * 1.0 * behind / np.maximum(read, 1), np.inf)
    return left


def lag_span_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] of the quick average of the lag: who commits rarely is looked at rarely."""
    span: Int64 = np.maximum(2 * usual_gap(marks, figures), BY.lag)
    return span


def late_ms(marks: Int64, figures: Figures, lag: Int64, now: int | Int64) -> Floats:
    """[partition] how late it is, about: no longer than usual and since it was so last, and no
    longer than its lag takes to be written.
    """
    written = np.maximum(lag, 0) * 1000.0 / np.maximum(figures[Figure.PRODUCED], 1e-6)
    most = level_ms(figures) + span_ms(now, marks[Mark.LEVEL_AT])
    late: Floats = np.minimum(written, most)
    return late


def usual_gap(marks: Int64, figures: Figures) -> Int64:
    """[partition] ms between two advances that is usual at most. One pause among quick commits, as
    in a rebalance, is not.
    """
    mean = figures[Figure.COMMIT_PAUSE]
    most = np.where(mean >= 0, BY.pauses * mean, float(LONGEST_MS)).astype(np.int64)
    gap: Int64 = np.minimum(longest_wait(marks), most)
    return gap


def usual_lag(figures: Figures) -> Floats:
    """[partition] what is usually left, records."""
    lag: Floats = written_at(figures) * level_ms(figures) / 1000
    return lag


def room_ms(marks: Int64, figures: Figures) -> Floats:
    """[partition] so much later than usual a healthy consumer may be when it has just advanced."""
    learnt = (marks[Mark.WAITS] >= BY.known_waits) & (figures[Figure.USUALLY_LEFT] >= 0)
    least = np.where(learnt, BY.least_left, BY.least_pause)
    room: Floats = np.maximum(least, BY.varies * figures[Figure.VARIES] * LEVEL.on)
    return room


def room(marks: Int64, figures: Figures, allowed_lag: int | Int64) -> Floats:
    """[partition] the same in records, and what chance adds."""
    written = written_at(figures) * room_ms(marks, figures) / 1000
    chance = by_chance(written + usual_lag(figures))
    lag: Floats = caught_up_lag(marks, allowed_lag) + written + chance
    return lag


def explained_lag(marks: Int64, figures: Figures, allowed_lag: int | Int64) -> Floats:
    """[partition] the lag that a healthy consumer may leave when it has just advanced."""
    return usual_lag(figures) + room(marks, figures, allowed_lag)
