"""Columns: what an offset event tells of each partition, and what becomes of it.

Every column is declared here, under the name that it has in `TopicPositions`. All are 64-bit
integers and UNKNOWN (-1) where nobody told. Reading, room for new partitions, parts of an
observation and the stored state follow from the declaration; a column is published where `TopicLag`
has a field of its name.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from warren_core.evaluation import UNKNOWN, Int64


class EventColumn(IntEnum):
    """A row of an array."""

    @property
    def field(self) -> str:
        """Its name in `TopicPositions`, and in `TopicLag` if it is published."""
        return self.name.lower()


class Latest(EventColumn):
    """Columns of every event. A state keeps the newest of each."""

    COMMITTED = 0
    COMMITTED_AT = 1
    LOG_START = 2
    LOG_END = 3


class Told(EventColumn):
    """Columns that an event may have. Where an observation comes in parts, a state keeps them until
    its last part is there; those in KEPT it keeps until they are told anew.
    """

    LEADER = 0
    LAST_STABLE = 1


KEPT: frozenset[Told] = frozenset()


def unknown(columns: type[EventColumn], partitions: int) -> Int64:
    """[column, partition]"""
    return np.full((len(columns), partitions), UNKNOWN, np.int64)


def taken(values: Int64, rows: Int64) -> Int64:
    """A copy of [column, partition] with these rows; a negative one is a partition that is new."""
    if not values.shape[1]:
        return np.full((len(values), len(rows)), UNKNOWN, np.int64)
    return np.where(rows >= 0, values[:, rows], UNKNOWN)


def only_kept(told: Int64 | None) -> Int64 | None:
    """Of [Told, partition] what is kept once an observation is whole; None where that is none."""
    if told is None or not KEPT:
        return None
    return np.where(np.isin(np.arange(len(Told)), list(KEPT))[:, None], told, UNKNOWN)


def as_declared(told: Int64) -> Int64:
    """[column, partition] as another version of Warren declared it, as this one does."""
    wanted = unknown(Told, told.shape[1])
    count = min(len(told), len(wanted))
    wanted[:count] = told[:count]
    return wanted
