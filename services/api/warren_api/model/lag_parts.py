"""Parts of evaluations, kept until all of one are there. Needs no lock: one thread feeds it."""

from __future__ import annotations

from warren.contracts import LagEvent
from warren_core.judgement.lag_parts import joined

GroupName = tuple[str, str]


class LagParts:
    """Of each group the parts of its newest evaluation, in whatever order they come."""

    def __init__(self) -> None:
        self._waiting: dict[GroupName, dict[int, LagEvent]] = {}

    def whole(self, event: LagEvent) -> LagEvent | None:
        """The evaluation, once all of it is there. Raises ContractViolation.

        Later parts of evaluations in more parts outlive these on a compacted topic: they are never
        complete.
        """
        name = event.cluster, event.group
        if event.parts == 1:
            self._waiting.pop(name, None)
            return event
        waiting = self._waiting.setdefault(name, {})
        if waiting:
            newest = next(iter(waiting.values()))
            if _evaluation(event) < _evaluation(newest):
                return None
            if _evaluation(event) != _evaluation(newest):
                waiting.clear()
        waiting[event.part] = event
        if len(waiting) < event.parts:
            return None
        del self._waiting[name]
        return joined([waiting[part] for part in sorted(waiting)])

    def forget(self, name: GroupName) -> None:
        self._waiting.pop(name, None)


def _evaluation(event: LagEvent) -> tuple[int, int, int]:
    return event.evaluated_at, event.position, event.parts
