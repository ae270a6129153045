"""Presence: whether anybody is in a partition's group who could read it, who comes and goes, and
long pauses of each day or week. What comes more often, and at regular times, is a crash that
repeats, and excuses nothing.
"""

from enum import IntEnum

import numpy as np

from warren_core.evaluation.loops import may_loop
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import Figure, Figures, Mark, Sighting, span_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64

AWAY = Rule(
    "away",
    learns="waits with nobody in the group, apart from the others",
    speaks="who was there for 30 min and is away has 35 s, and up to a minute more if it commits "
    "rarely; a job that comes and goes as long as it usually is away, and a third more",
    sentence="Who has gone is dead after 35 s, unless it commits rarely, or usually comes and "
    "goes.",
    parameters=("usual",),
)
REBALANCE = Rule(
    "rebalance",
    learns="nothing",
    speaks="what a rebalance takes of a wait does not count, up to 200 s",
    sentence="A rebalance is no silence for three minutes.",
    parameters=("rebalance",),
)


class Presence(IntEnum):
    """What a group's state means to its partitions."""

    UNKNOWN = -1  # also of consumers that assign partitions to themselves
    NOBODY = 0
    REBALANCING = 1
    THERE = 2


_OF_STATES = {
    "Empty": Presence.NOBODY,
    "Dead": Presence.NOBODY,
    "PreparingRebalance": Presence.REBALANCING,
    "CompletingRebalance": Presence.REBALANCING,
    "Assigning": Presence.REBALANCING,
    "Stable": Presence.THERE,
    "Reconciling": Presence.THERE,
}


def presence_of(state: str | None) -> Presence:
    """Of a group's state as DescribeConsumerGroups names it. Members that reconcile (KIP-848) go on
    with what they keep.
    """
    return _OF_STATES.get(state or "", Presence.UNKNOWN)


def learn_presence(marks: Int64, sighting: Sighting) -> None:
    """Since when somebody is there, or nobody any more."""
    presence, now = sighting.presence, sighting.at
    gone, there = marks[Mark.GONE_SINCE], marks[Mark.THERE_SINCE]
    somebody = np.asarray(presence) >= Presence.REBALANCING
    was_there = not (gone >= 0).any()
    if was_there and np.all(somebody if (there >= 0).all() else presence == Presence.UNKNOWN):
        return  # as mostly
    absent = np.where(somebody & (gone >= 0), span_ms(now, gone), 0)
    marks[Mark.ABSENT] = np.maximum(marks[Mark.ABSENT], absent)
    came = somebody & ((there < 0) | (absent > BY.rebalance))
    marks[Mark.THERE_SINCE] = np.where(came, now, there)
    since = np.where(gone >= 0, gone, now)
    marks[Mark.GONE_SINCE] = np.where(presence == Presence.NOBODY, since, UNKNOWN)


def was_absent(marks: Int64) -> Bools:
    """[partition] nobody was there for some of this wait."""
    absent: Bools = (marks[Mark.GONE_SINCE] >= 0) | (marks[Mark.ABSENT] > 0)
    return absent


def was_away(marks: Int64, wait: Int64, now: int | Int64) -> Bools:
    """[partition] nobody was there for a third of this wait at least."""
    gone = marks[Mark.GONE_SINCE]
    absent = np.maximum(marks[Mark.ABSENT], np.where(gone >= 0, span_ms(now, gone), 0))
    away: Bools = was_absent(marks) & (3 * absent >= wait)
    return away


def has_gone(marks: Int64) -> Bools:
    """[partition] nobody is there who was there for long."""
    gone, there = marks[[Mark.GONE_SINCE, Mark.THERE_SINCE]]
    has: Bools = (gone >= 0) & (there >= 0) & ((gone - there >= BY.usual) | may_loop(marks, gone))
    return has


def end_absence(marks: Int64, now: int | Int64, advanced: Bools) -> None:
    """Somebody has committed: a member, or who assigns partitions to itself."""
    if not was_absent(marks).any():
        return
    gone = marks[Mark.GONE_SINCE]
    alone = advanced & (gone >= 0) & (span_ms(now, gone) > BY.soon)
    marks[Mark.THERE_SINCE] = np.where(alone, UNKNOWN, marks[Mark.THERE_SINCE])
    marks[Mark.GONE_SINCE] = np.where(alone, now, gone)  # of the next wait
    marks[Mark.ABSENT] = np.where(advanced, 0, marks[Mark.ABSENT])


def rebalanced_ms(marks: Int64, sighting: Sighting, waits: Bools, elapsed: Int64) -> Int64 | int:
    """[partition] how much of the time since the last observation a rebalance took that a wait is
    not to be blamed for; noted.
    """
    if not (REBALANCE.on and np.any(sighting.presence == Presence.REBALANCING)):
        return 0
    room = BY.rebalance - marks[Mark.REBALANCED]
    rebalances = waits & (sighting.presence == Presence.REBALANCING)
    took: Int64 = np.where(rebalances, np.minimum(elapsed, room), 0)
    marks[Mark.REBALANCED] += took
    return took


DAILY = Rule(
    "daily",
    learns="three pauses, each about as long, that begin at the same time of day or week",
    speaks="a pause that begins when one is due has that time",
    sentence="What comes at the same time each day, or week, is a habit.",
    parameters=("day", "off", "alike", "turns"),
)


def daily_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long such a pause takes; 0 where there is none."""
    length = np.abs(figures[Figure.DAILY]).astype(np.int64)  # UNKNOWN is -1
    return np.where((length > 1) & (marks[Mark.ODD_APART] >= BY.day), length, 0)


def excused_ms(marks: Int64, figures: Figures) -> Int64:
    """[partition] how long this wait may take, since one was due."""
    length = daily_ms(marks, figures)
    if not length.any():  # as mostly
        return length
    return np.where(began_when_due(marks, figures), with_room(length), 0)


def began_when_due(marks: Int64, figures: Figures) -> Bools:
    """[partition] this wait did."""
    since = marks[Mark.WAITING_SINCE]
    began: Bools = (daily_ms(marks, figures) > 0) & (since > marks[Mark.ODD_AT])
    began &= _is_due(marks, since)
    return began


def with_room(pause: Int64) -> Int64:
    """How long one may take that usually takes so long."""
    return pause + pause // 3 + np.minimum(pause, BY.room)


def learn_daily(
    marks: Int64, figures: Figures, wait: Int64, crashed: Bools, now: int | Int64
) -> Bools:
    """`crashed`: a wait has ended that was longer than any pause may be. [partition] it is not to
    be noted as an odd one: it was due, or came between two that are.
    """
    known = daily_ms(marks, figures) > 0
    if not DAILY.on or not (crashed.any() or known.any()):
        return np.zeros_like(crashed)
    at, apart, odd = marks[[Mark.ODD_AT, Mark.ODD_APART, Mark.ODD_PAUSE]]
    most = (BY.turns * apart) + BY.off
    missed = span_ms(now, at) > most + with_room(daily_ms(marks, figures))
    figures[Figure.DAILY] = np.where(known & missed, UNKNOWN, figures[Figure.DAILY])
    known &= ~missed
    began = now - wait
    turns, late = turns_since(at, apart, began)
    alike = np.abs(wait - odd) <= BY.alike * np.maximum(odd, wait)
    due = crashed & _is_due(marks, began) & (known | alike & (turns == 1))
    # The day is set by half of what this one is off; the length follows, sooner up than down.
    then = np.where(known, at + turns * apart + late // 2, began)
    length = daily_ms(marks, figures)
    excused = ~known | (wait <= with_room(length))
    length = np.where(excused, np.maximum(wait, length - (length - wait) // BY.known_waits), length)
    marks[Mark.ODD_AT] = np.where(due, then, at)
    marks[Mark.ODD_APART] = np.where(due, apart + late // turns // 4, apart)
    figures[Figure.DAILY] = np.where(due, length, figures[Figure.DAILY])
    found: Bools = known | due
    return found


def _is_due(marks: Int64, began: Int64) -> Bools:
    """[partition] a day or week, or some of them, have gone by since the odd pause before."""
    turns, late = turns_since(marks[Mark.ODD_AT], marks[Mark.ODD_APART], began)
    due: Bools = (np.abs(late) <= BY.off) & (turns <= BY.turns)
    due &= marks[Mark.ODD_APART] >= BY.day
    return due


def turns_since(at: Int64, apart: Int64, began: Int64) -> tuple[Int64, Int64]:
    """[partition] how many have gone by, about, and how late it is then, ms."""
    apart = np.maximum(apart, 1)
    since = span_ms(began, at)
    turns = np.maximum((since + apart // 2) // apart, 1)
    return turns, since - turns * apart
