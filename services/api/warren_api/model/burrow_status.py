"""Statuses as Burrow would have them: what is only ours is what it is to Burrow.

An offset beyond the log end has no lag, and no lag is OK to Burrow.
"""

from __future__ import annotations

from warren.contracts import GroupStatusName, PartitionStatusName, Status

from warren_api.model.group import GroupView


def partition_status(status: PartitionStatusName) -> PartitionStatusName:
    return "OK" if status == "BEYOND_END" else status


def group_status(view: GroupView) -> GroupStatusName:
    """Of the worst partition, as it is to Burrow."""
    if view.event.status != "ERR" or "BEYOND_END" not in view.partition_counts:
        return view.event.status
    worst = max(Status[partition_status(name)] for name in view.partition_counts)
    return _GROUP_STATUSES[worst.for_group()]


_GROUP_STATUSES: dict[Status, GroupStatusName] = {
    Status.OK: "OK",
    Status.WARN: "WARN",
    Status.ERR: "ERR",
}
