"""Statuses of partitions and groups, with Burrow's numeric codes."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, cast

PartitionStatusName = Literal["OK", "WARN", "STOP", "STALL", "REWIND", "BEYOND_END"]
GroupStatusName = Literal["NOTFOUND", "OK", "WARN", "ERR"]


class Status(IntEnum):
    """Ordered from best to worst. ERR is for groups; STOP to BEYOND_END for partitions.

    The numbers are those of Burrow's metrics (linkedin/Burrow, core/protocol/evaluator.go) but for
    BEYOND_END, which is ours: to Burrow such a partition is OK.
    """

    NOTFOUND = 0
    OK = 1
    WARN = 2
    ERR = 3
    STOP = 4
    STALL = 5
    REWIND = 6
    BEYOND_END = 7

    def for_group(self) -> Status:
        """What a group is when this is its worst partition."""
        return min(self, Status.ERR)


_NAMES = [status.name for status in Status]


def partition_name(status: int) -> PartitionStatusName:
    return cast(PartitionStatusName, _NAMES[status])


def group_name(status: Status) -> GroupStatusName:
    return cast(GroupStatusName, status.name)
