"""Statuses as the contracts name them."""

from __future__ import annotations

from typing import cast

from warren.contracts.status import GroupStatusName, PartitionStatusName, Status

_NAMES = [status.name for status in Status]


def partition_name(status: int) -> PartitionStatusName:
    return cast(PartitionStatusName, _NAMES[status])


def group_name(status: Status) -> GroupStatusName:
    return cast(GroupStatusName, status.name)
