"""Incidents that come and go: five of a kind within half an hour are told as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warren.contracts import GroupStatusName, Status

from warren_api.model.incidents import IncidentRecord

OPENINGS = 5
WINDOW_MS = 30 * 60_000


class Flapping(NamedTuple):
    """`incidents`: newest first, at least OPENINGS; `now`: Unix milliseconds."""

    incidents: Sequence[IncidentRecord]
    now: int

    @property
    def newest(self) -> IncidentRecord:
        return self.incidents[0]

    @property
    def opened_at(self) -> int:
        return self.incidents[-1].opened_at

    @property
    def is_open(self) -> bool:
        return self.newest.is_open

    @property
    def closed_at(self) -> int | None:
        return self.newest.closed_at

    @property
    def worst(self) -> GroupStatusName:
        return max((each.worst for each in self.incidents), key=lambda status: Status[status])

    @property
    def bad_percent(self) -> int:
        """How much of the time, from the first opening on, it was ERR."""
        end = self.now if self.is_open else self.closed_at or self.newest.opened_at
        spent = sum(_bad_ms(each, self.now) for each in self.incidents)
        return round(100 * spent / max(end - self.opened_at, 1))


def folded(known: Iterable[IncidentRecord], now: int) -> list[IncidentRecord | Flapping]:
    """Of one group, newest first."""
    by_kind: defaultdict[str, list[IncidentRecord]] = defaultdict(list)
    for each in known:
        by_kind[each.type].append(each)
    found = [one for kind in by_kind.values() for one in _folded(kind, now)]
    return sorted(found, key=lambda one: one.opened_at, reverse=True)


def _folded(known: Sequence[IncidentRecord], now: int) -> list[IncidentRecord | Flapping]:
    """`known`: of one kind, newest first."""
    flaps = [False] * len(known)
    for first in range(len(known) - OPENINGS + 1):
        last = first + OPENINGS
        if known[first].opened_at - known[last - 1].opened_at <= WINDOW_MS:
            flaps[first:last] = [True] * OPENINGS
    found: list[IncidentRecord | Flapping] = []
    run: list[IncidentRecord] = []
    for each, is_flap in zip(known, flaps, strict=True):
        if run and not (is_flap and run[-1].opened_at - each.opened_at <= WINDOW_MS):
            found.append(Flapping(run, now))
            run = []
        if is_flap:
            run.append(each)
        else:
            found.append(each)
    return [*found, Flapping(run, now)] if run else found


def _bad_ms(incident: IncidentRecord, now: int) -> int:
    """For how long it was ERR, as far as that is remembered."""
    end = now if incident.is_open else incident.closed_at
    times = [recorded.at for recorded in incident.changes]
    if end is None or not times:
        return 0
    return sum(
        max(until - recorded.at, 0)
        for recorded, until in zip(incident.changes, [*times[1:], end], strict=True)
        if recorded.change.status == "ERR"
    )
