"""Groups that are gone: their entries may go too, once the event that ended them is committed.

Until then that event, and those before it, can be replayed, and the entry tells that they were
applied.
"""

from collections.abc import Iterable, Iterator, Mapping

from warren_core.judgement.state import GroupGone
from warren_core.judgement.state_arrays import CorruptState
from warren_core.judgement.state_codec import decode, is_gone


class GoneGroups:
    """Keys that wait for a commit, by partition of the topic that says so."""

    def __init__(self) -> None:
        self._waiting: dict[int, dict[bytes, int]] = {}
        self._first_seen: dict[int, int] = {}

    def add(self, key: bytes, partition: int, source_offset: int) -> None:
        self._waiting.setdefault(partition, {})[key] = source_offset

    def restore(self, entries: Iterable[tuple[bytes, int, int]]) -> None:
        """Starts anew, after a recovery, from (key, partition, source offset) of those that are
        gone."""
        self._waiting.clear()
        self._first_seen.clear()
        for key, partition, source_offset in entries:
            self.add(key, partition, source_offset)

    def saw(self, partition: int, offset: int) -> None:
        """An event came. The first one after a recovery is at the committed offset."""
        self._first_seen.setdefault(partition, offset)

    def take_due(self, committed: Mapping[int, int]) -> list[tuple[bytes, int]]:
        """(key, partition) of groups whose end lies below what is committed of its partition.

        `committed` is what this worker has committed since it started.
        """
        due = []
        for partition, waiting in self._waiting.items():
            end = max(committed.get(partition, 0), self._first_seen.get(partition, 0))
            for key in [key for key, offset in waiting.items() if offset < end]:
                del waiting[key]
                due.append((key, partition))
        return due


def ended_groups(entries: Iterable[tuple[bytes, bytes, int]]) -> Iterator[tuple[bytes, int, int]]:
    """Of the windows' (key, value, partition): key, partition, and the offset of the event that
    ended it, of groups that are gone.
    """
    for key, value, partition in entries:
        try:
            state = decode(value) if is_gone(value) else None
        except CorruptState:
            continue  # is reported when an event of the group comes
        if isinstance(state, GroupGone):
            yield key, partition, state.applied.source_offset
