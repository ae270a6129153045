"""Events that are no news: the past before a notifier's first start, and what was read already.

A partition without a committed position may hold weeks of changes. Nobody wants mails about
incidents that are over, everybody about those that are not: only what still lasts is told.
"""

from collections import OrderedDict

from warren_notifier.routing.change import Change, Subject

REMEMBERED = 5_000  # ids, of each partition


class Backlog:
    """Folds the changes of one partition below the offset `until`."""

    def __init__(self, until: int) -> None:
        self._until = until
        self._open: dict[Subject, tuple[Change, int]] = {}

    def covers(self, offset: int) -> bool:
        return offset < self._until

    def fold(self, change: Change, offset: int) -> None:
        known = self._open.get(change.subject)
        if known is not None and change.opened_at < known[0].opened_at:
            return  # of an incident before, late or again
        if change.closing:
            self._open.pop(change.subject, None)
        else:
            self._open[change.subject] = (change, offset)

    def ends_with(self, offset: int) -> bool:
        """Whether a record at `offset` is the last one, or beyond."""
        return self.is_read_to(offset + 1)

    def is_read_to(self, offset: int) -> bool:
        """Whether all is known when there is no record below `offset` any more."""
        return offset >= self._until

    def lasting(self) -> list[tuple[Change, int]]:
        """Newest changes, with their offsets, of groups that are not OK."""
        return sorted(self._open.values(), key=lambda item: item[1])


class SeenEvents:
    """Which events have been taken in lately: an evaluator that was killed publishes some again.

    Ids by partition, as long as it is served. What was taken in longer ago is no replay."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._remembered = remembered
        self._ids: dict[int, OrderedDict[str, None]] = {}

    def has(self, partition: int, event_id: str) -> bool:
        return event_id in self._ids.get(partition, ())

    def add(self, partition: int, event_id: str) -> None:
        ids = self._ids.setdefault(partition, OrderedDict())
        ids[event_id] = None
        if len(ids) > self._remembered:
            ids.popitem(last=False)

    def forget(self, partition: int) -> None:
        """It is served no longer: what is read again later may not have been written."""
        self._ids.pop(partition, None)
