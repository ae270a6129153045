"""Since when a group is late, at the latest: what is remembered while its committed offset stays.

A record that was there once and was not consumed makes the group late for good, also when
retention has deleted it and those that are left are young.
"""

from __future__ import annotations

from typing import NamedTuple

from warren_freshness.log_position import UNKNOWN
from warren_freshness.positions.partition_state import PartitionState


class LateSince(NamedTuple):
    """Of one partition at one committed offset."""

    committed: int
    since: int | None
    """Unix ms; None when nothing says that there is a record to consume."""
    searched_to: int = UNKNOWN
    """Before this offset nothing is left but control records and aborted ones."""
    has_wrong_time: bool = False
    """The record at the committed offset was seen before its timestamp: that is never its age."""

    def earliest(self, state: PartitionState, *more: int | None) -> int | None:
        """With what the events say of the partition now, and `more` times when it was late."""
        known = (self.since, self._known_since(state), *more)
        return min((at for at in known if at is not None), default=None)

    def _known_since(self, state: PartitionState) -> int | None:
        if self.searched_to == UNKNOWN:
            return state.known_since
        return state.log_observed_at if state.log_end > self.searched_to else None


def remembered_at(state: PartitionState, known: LateSince | None) -> LateSince:
    """What is known still: nothing of before, once the group has committed another offset."""
    committed = state.committed.offset
    return known if known and known.committed == committed else LateSince(committed, None)


def has_wrong_time(state: PartitionState, known: LateSince | None) -> bool:
    """Whether the record at the committed offset was seen before its timestamp."""
    if known is None or not known.has_wrong_time:
        return False
    return known.committed == state.committed.offset
