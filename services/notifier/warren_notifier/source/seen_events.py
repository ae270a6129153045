"""Which events have been taken in lately: an evaluator that was killed publishes some again."""

from __future__ import annotations

from collections import OrderedDict

REMEMBERED = 5_000  # ids, of each partition


class SeenEvents:
    """Ids by partition, as long as it is served. What was taken in longer ago is no replay."""

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
