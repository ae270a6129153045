"""Positions as the offsets topic fills them, with the states of the groups beside."""

from collections.abc import Callable

import support.coordinator_records as encode
from warren_collector.groups.recorded.states import GroupStates
from warren_collector.positions.recorded import RecordedPositions

Record = tuple[bytes | None, bytes | None]
Position = tuple[str, str, int]
Committed = tuple[int, int]


def everything(_name: str) -> bool:
    return True


def recorded_positions(
    accepts: Callable[[str], bool] = everything, accepts_topic: Callable[[str], bool] = everything
) -> RecordedPositions:
    return RecordedPositions(GroupStates(accepts), accepts, accepts_topic)


def committed(positions: RecordedPositions) -> dict[Position, Committed]:
    columns = positions.columns
    return {
        (group.name, topic, partition): (int(columns.offset[row]), int(columns.committed_at[row]))
        for group in positions.groups
        for topic, rows in group.topics.items()
        for partition, row in rows.by_partition.items()
    }


def commit_counts(positions: RecordedPositions) -> dict[Position, int]:
    return {
        (group.name, topic, partition): int(positions.columns.commits[row])
        for group in positions.groups
        for topic, rows in group.topics.items()
        for partition, row in rows.by_partition.items()
        if positions.columns.commits[row]
    }


def commits(group: str, count: int, topic: str = "orders") -> list[Record]:
    return [
        (encode.offset_key(group, topic, partition), encode.offset_value(partition * 10, 1000))
        for partition in range(count)
    ]
