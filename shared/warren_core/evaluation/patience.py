"""Patience: how long the offset may stand still while there is something to read."""

import numpy as np

from warren_core.evaluation.lateness import due_ms
from warren_core.evaluation.returns import returning_ms, with_room
from warren_core.evaluation.rule import BY, Rule, S
from warren_core.evaluation.track import Figure, Figures, Mark, longest, span_ms
from warren_core.evaluation.windows import Int64

HABIT = Rule(
    "habit",
    learns="the longest wait of this day and of the day before; of odd ones, longer than 5 min and "
    "2½ pauses between commits, those of 10 min at most that come again soon",
    speaks="as long, a quarter more and 10 s is no silence; nor are two pauses between commits",
    sentence="Who usually pauses has that time, and a quarter more; one commit may be left out.",
    parameters=("room", "memory", "often"),
)
FIRST = Rule(
    "first",
    learns="how many waits it has seen; commits of before tell them as well",
    speaks="the fewer the longer a wait may take, 5 min at most; who has not advanced since it is "
    "known has that time while members are there; who was read in a run before, 25 min",
    sentence="Who is not known yet has five minutes.",
    parameters=("first", "known_waits"),
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
_UNSEEN_REST_MS = 25 * 60 * S  # a job of which no rest is known may rest for so long
CHECKPOINTS_MS = 15 * 60 * S  # pauses that are longer are none between commits
REPEATED = 2  # commits of one offset are no silence


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
        # Since its last commit: what has been dead for long rests no more.
        since_commit = span_ms(marks[Mark.WAITING_SINCE], marks[Mark.REST_AT])
        patience = np.maximum(patience, np.where(ran, _UNSEEN_REST_MS - since_commit, 0))
    if RESTS.on and (rest := marks[Mark.REST]).any():
        rested = span_ms(marks[Mark.WAITING_SINCE], marks[Mark.ADVANCED_AT])
        patience = np.maximum(patience, np.where(_rests(marks), with_room(rest) - rested, 0))
    returning = returning_ms(marks, marks[Mark.WAITING_SINCE], is_stop=True)
    return np.maximum(patience + due_ms(marks, figures), with_room(np.asarray(returning)))


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
    missing = BY.known_waits - marks[Mark.WAITS]
    return np.where(_is_fresh(marks), BY.first, BY.first * missing // BY.known_waits)


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
    dead_ms = span_ms(waiting, marks[Mark.REST_AT])  # of who was met so, since its last commit
    met_dead = (there < 0) & ((marks[Mark.WAITS] > 0) | (dead_ms >= _UNSEEN_REST_MS))
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
