"""The past before a notifier's first start: only what still lasts at its end is told.

A partition without a committed position may hold weeks of changes. Nobody wants mails about
incidents that are over, everybody about those that are not.
"""

from __future__ import annotations

from warren_notifier.routing.change import Change, Subject


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
