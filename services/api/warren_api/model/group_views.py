"""The newest view of every group, and how they all stand; parts of evaluations until all are there.

How they stand is kept up to date group by group: a page of ten thousand is asked for every few
seconds, and few of them have another state by then.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from warren.contracts import GroupStatusName, LagEvent
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


ORDER_MS = 30_000


class Standing(NamedTuple):
    """How all groups stand at one moment; views in no order."""

    judged: dict[tuple[str, GroupStatusName], int]
    """How many of a cluster have which status, as last judged."""
    troubled: list[GroupView]
    """Not OK, losing data, or not keeping an objective."""
    unknown: list[GroupView]
    """Not to be believed, troubled or not."""
    fine: Sequence[GroupName]
    """All others, the largest lag first, as it was at most `ORDER_MS` before."""


class GroupViews:
    """By (cluster, group). Not safe by itself: whoever owns it has a lock."""

    def __init__(self) -> None:
        self._views: dict[GroupName, GroupView] = {}
        self._judged: Counter[tuple[str, GroupStatusName]] = Counter()
        self._troubled: dict[GroupName, GroupView] = {}
        self._ranked: tuple[GroupView, ...] | None = ()
        self._fine: tuple[GroupName, ...] | None = ()
        self._fine_at = 0
        # Those that are not believed; of all others none was judged before `_eldest`.
        self._unknown: dict[GroupName, GroupView] = {}
        self._eldest = math.inf
        self._away: frozenset[str] = frozenset()
        self._limit = 0
        self.aged = 0
        """Another one whenever a group is believed no more, or again."""

    def __iter__(self) -> Iterator[GroupView]:
        return iter(self._views.values())

    def __len__(self) -> int:
        return len(self._views)

    def __contains__(self, name: object) -> bool:
        return name in self._views

    def get(self, name: GroupName) -> GroupView | None:
        return self._views.get(name)

    @property
    def names(self) -> Collection[GroupName]:
        return self._views.keys()

    def put(self, name: GroupName, view: GroupView) -> bool:
        """Whether its state is another now: what people see as a change, not figures."""
        before = self._views.get(name)
        self._views[name] = view
        self._ranked = None
        self._note_age(name, view, before)
        if view.is_troubled:
            self._troubled[name] = view
        if before is not None:
            if _state(before) == _state(view):
                return False
            self._judged[before.cluster, before.severity] -= 1
        self._judged[view.cluster, view.severity] += 1
        if not view.is_troubled:
            self._troubled.pop(name, None)
        self._fine = None
        return True

    def remove(self, name: GroupName) -> None:
        before = self._views.pop(name, None)
        if before is not None:
            self._judged[before.cluster, before.severity] -= 1
        self._troubled.pop(name, None)
        self._unknown.pop(name, None)
        self._ranked = self._fine = None

    def _note_age(self, name: GroupName, view: GroupView, before: GroupView | None) -> None:
        was_unknown = name in self._unknown
        is_same = before is not None and before.event is view.event
        is_unknown = view.cluster in self._away or not view.event.is_known
        if is_unknown or (was_unknown and is_same):
            self._unknown[name] = view
            self.aged += not was_unknown
            return
        self._eldest = min(self._eldest, view.event.evaluated_at)
        if was_unknown:
            del self._unknown[name]
            self.aged += 1

    def age(self, limit: int, away: frozenset[str]) -> None:
        """From now on those are not believed that were judged before `limit` (Unix milliseconds),
        and all of clusters that are `away`. Looks through them only where one may be another.
        """
        if away == self._away and self._limit <= limit <= self._eldest:
            self._limit = limit
            return
        unknown, eldest = {}, math.inf
        for name, view in self._views.items():
            at = view.event.evaluated_at
            if at < limit or name[0] in away or not view.event.is_known:
                unknown[name] = view
            elif at < eldest:
                eldest = at
        self.aged += unknown.keys() != self._unknown.keys()
        self._unknown, self._eldest, self._away, self._limit = unknown, eldest, away, limit

    def standing(self, now: int) -> Standing:
        """At `now` (Unix milliseconds), as of the last `age`."""
        judged = {each: count for each, count in self._judged.items() if count}
        troubled, unknown = list(self._troubled.values()), list(self._unknown.values())
        return Standing(judged, troubled, unknown, self._others(now))

    def _others(self, now: int) -> Sequence[GroupName]:
        if self._fine is None or not 0 <= now - self._fine_at < ORDER_MS:
            found = [
                (_opened_at(view), -view.event.total_lag, *name)
                for name, view in self._views.items()
                if name not in self._troubled
            ]
            found.sort()
            self._fine = tuple((cluster, group) for _, _, cluster, group in found)
            self._fine_at = now
        if not self._unknown:
            return self._fine
        return [name for name in self._fine if name not in self._unknown]

    def ranked(self) -> tuple[GroupView, ...]:
        """All of them, worst first."""
        if self._ranked is None:
            named = sorted(self._views.items(), key=lambda named: named[1].rank)
            # Few have moved until the next time: what is nearly sorted is sorted soon.
            self._views = dict(named)
            self._ranked = tuple(self._views.values())
        return self._ranked


def _opened_at(view: GroupView) -> int:
    return view.event.incident.opened_at if view.event.incident else 0


def _state(view: GroupView) -> tuple[object, ...]:
    broken = tuple(one.incident_id for one in view.broken), view.worst_broken
    judged = view.event.status, view.event.is_known
    return *judged, view.event.incident, view.data_loss, broken
