"""The newest view of every group, and parts of evaluations until all are there."""

from collections.abc import Iterator, KeysView

from warren.contracts import LagEvent
from warren_core.judgement.lag_parts import joined

from warren_api.model.group import GroupView

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


class GroupViews:
    """By (cluster, group). Not safe by itself: whoever owns it has a lock."""

    def __init__(self) -> None:
        self._views: dict[GroupName, GroupView] = {}
        self._ranked: tuple[GroupView, ...] | None = ()

    def __iter__(self) -> Iterator[GroupView]:
        return iter(self._views.values())

    def __contains__(self, name: object) -> bool:
        return name in self._views

    def get(self, name: GroupName) -> GroupView | None:
        return self._views.get(name)

    @property
    def names(self) -> KeysView[GroupName]:
        return self._views.keys()

    def put(self, name: GroupName, view: GroupView) -> bool:
        """Whether its state is another now: what people see as a change, not figures."""
        before = self._views.get(name)
        self._views[name] = view
        self._ranked = None
        return before is None or _state(before) != _state(view)

    def remove(self, name: GroupName) -> None:
        self._views.pop(name, None)
        self._ranked = None

    def ranked(self) -> tuple[GroupView, ...]:
        """All of them, worst first."""
        if self._ranked is None:
            named = sorted(self._views.items(), key=lambda named: named[1].rank)
            # Few have moved until the next time: what is nearly sorted is sorted soon.
            self._views = dict(named)
            self._ranked = tuple(self._views.values())
        return self._ranked


def _state(view: GroupView) -> tuple[object, ...]:
    broken = tuple(one.incident_id for one in view.broken), view.worst_broken
    judged = view.event.status, view.event.is_known
    return *judged, view.event.incident, view.data_loss, broken
