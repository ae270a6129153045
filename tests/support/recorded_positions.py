"""Positions as the offsets topic fills them, with the states of the groups beside."""

from __future__ import annotations

from collections.abc import Callable

from warren_collector.groups.recorded.states import GroupStates
from warren_collector.positions.recorded import RecordedPositions


def everything(_name: str) -> bool:
    return True


def recorded_positions(
    accepts: Callable[[str], bool] = everything, accepts_topic: Callable[[str], bool] = everything
) -> RecordedPositions:
    return RecordedPositions(GroupStates(accepts), accepts, accepts_topic)
