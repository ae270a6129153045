"""Presence: whether anybody is in a partition's group who could read it, and who comes and goes."""

from enum import IntEnum

import numpy as np

from warren_core.evaluation.loops import may_loop
from warren_core.evaluation.rule import BY, Rule
from warren_core.evaluation.track import Mark, Sighting, span_ms
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
