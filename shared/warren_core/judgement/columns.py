"""Columns: what an offset event tells of each partition, and what becomes of it.

Every column is declared here, under the name that it has in `TopicPositions`. All are 64-bit
integers and UNKNOWN (-1) where nobody told. Reading, room for new partitions, parts of an
observation and the stored state follow from the declaration; a column is published where `TopicLag`
has a field of its name.
"""

from enum import IntEnum

import numpy as np

from warren_core.evaluation import UNKNOWN, Int64


class EventColumn(IntEnum):
    """A row of an array. `field`: its name in `TopicPositions`, and in `TopicLag` if published."""

    field: str

    def __init__(self, _row: int) -> None:
        self.field = self.name.lower()


class Latest(EventColumn):
    """Columns of every event. A state keeps the newest of each."""

    COMMITTED = 0
    COMMITTED_AT = 1
    LOG_START = 2
    LOG_END = 3


class Told(EventColumn):
    """Columns that an event may have. They are of one observation, all of its parts; a state keeps
    them until its last part is there, those in KEPT until they are told anew.
    """

    LEADER = 0
    LAST_STABLE = 1
    OWNED = 2


KEPT: frozenset[Told] = frozenset()


def unknown(of: type[EventColumn], partitions: int) -> Int64:
    """[column, partition]"""
    return np.full((len(of), partitions), UNKNOWN, np.int64)
