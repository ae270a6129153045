"""Presence: whether anybody is in a partition's group who could read it, and who comes and goes."""

from enum import IntEnum

import numpy as np

from warren_core.evaluation.rule import BY
from warren_core.evaluation.track import Mark, Sighting, span_ms
from warren_core.evaluation.windows import UNKNOWN, Bools, Int64


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
    came = somebody & ((there < 0) | (absent > BY.first))
    marks[Mark.THERE_SINCE] = np.where(came, now, there)
    since = np.where(gone >= 0, gone, now)
    marks[Mark.GONE_SINCE] = np.where(presence == Presence.NOBODY, since, UNKNOWN)


def was_away(marks: Int64, wait: Int64, now: int | Int64) -> Bools:
    """[partition] nobody was there for a third of this wait at least."""
    gone, absent = marks[[Mark.GONE_SINCE, Mark.ABSENT]]
    absent = np.maximum(absent, np.where(gone >= 0, span_ms(now, gone), 0))
    away: Bools = ((gone >= 0) | (absent > 0)) & (3 * absent >= wait)
    return away


def end_absence(marks: Int64, now: int | Int64, advanced: Bools) -> None:
    """Somebody has committed: a member, or who assigns partitions to itself."""
    gone = marks[Mark.GONE_SINCE]
    if not ((gone >= 0) | (marks[Mark.ABSENT] > 0)).any():  # as mostly
        return
    alone = advanced & (gone >= 0) & (span_ms(now, gone) > BY.gone)
    marks[Mark.THERE_SINCE] = np.where(alone, UNKNOWN, marks[Mark.THERE_SINCE])
    marks[Mark.GONE_SINCE] = np.where(alone, now, gone)  # of the next wait
    marks[Mark.ABSENT] = np.where(advanced, 0, marks[Mark.ABSENT])
