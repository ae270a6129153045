"""Statuses of partitions and groups, with Burrow's numeric codes."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

PartitionStatusName = Literal["OK", "WARN", "STOP", "STALL", "REWIND"]
GroupStatusName = Literal["NOTFOUND", "OK", "WARN", "ERR"]


class Status(IntEnum):
    """Ordered from best to worst. ERR is for groups; STOP, STALL and REWIND for partitions.

    The numbers are those of Burrow's metrics (linkedin/Burrow, core/protocol/evaluator.go).
    """

    NOTFOUND = 0
    OK = 1
    WARN = 2
    ERR = 3
    STOP = 4
    STALL = 5
    REWIND = 6

    def for_group(self) -> Status:
        """What a group is when this is its worst partition."""
        return min(self, Status.ERR)
