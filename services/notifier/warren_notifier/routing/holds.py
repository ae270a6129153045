"""What people ask for at one moment: which deliveries are put off, and what is acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from warren.contracts import TEST_CLUSTER, Acknowledgement, OpenIncident, PendingDelivery
from warren.silences import InForce, Silences

from warren_notifier.routing.change import Change, Subject
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.routes import Route, muted_until


@dataclass(frozen=True, slots=True)
class Hold:
    """`name`: as the state remembers it. `detail`: for people."""

    name: str
    detail: str


class Holds:
    """What people ask for by `silences`, and the settings by the mute windows of `routes`."""

    def __init__(
        self, silences: Silences, routes: Sequence[Route] = (), resends: Collection[str] = ()
    ) -> None:
        """`resends`: channels that take an incident for over of which they hear nothing."""
        self._resends = frozenset(resends)
        self._silences = silences
        self._muted = {route.name: route.mute for route in routes if route.mute}

    def at(self, now: int) -> HoldsAt:
        """What holds at `now` (Unix milliseconds)."""
        return HoldsAt(
            self._silences.in_force(now),
            {name: muted_until(windows, now) for name, windows in self._muted.items()},
            self._resends,
            self._silences.acknowledgement,
        )


@dataclass(frozen=True, slots=True)
class HoldsAt:
    """At one moment. `muted`: until when, by route; None where a route is not muted.

    `acknowledged`: who acknowledged an incident.
    """

    silences: InForce
    muted: dict[str, int | None]
    resends: frozenset[str]
    acknowledged: Callable[[str], Acknowledgement | None]

    def acknowledgement(
        self, incident: OpenIncident, change: Change | None = None
    ) -> Acknowledgement | None:
        """Of the incident, of the one that it goes on as, or of a condition of its `change`."""
        ids = [incident.incident_id, *filter(None, [incident.goes_on_as])]
        ids += [] if change is None else change.event.data.ids
        return next(filter(None, map(self.acknowledged, ids)), None)

    def of(self, subject: Subject, pending: PendingDelivery) -> Hold | None:
        """Why a delivery is put off; None: it is not. The end of what was told never is, nor that
        somebody looks after it, nor a test.
        """
        if pending.kind in ("resolved", "acknowledged") or subject.cluster == TEST_CLUSTER:
            return None
        if pending.kind == "repeated" and pending.channel in self.resends:
            return None  # it would say that the incident is over
        silence = self.silences.of(subject.cluster, subject.group) if self.silences else None
        if silence is not None:
            why = f": {silence.why}" if silence.why else ""
            return Hold(
                f"silence {silence.id}",
                f"silence {silence.id} of {silence.by} until {_utc(silence.ends_at)}{why}",
            )
        until = self.muted.get(pending.route)
        if until is not None:
            return Hold(
                f"mute {pending.route}", f"route {pending.route} is muted until {_utc(until)}"
            )
        return None


@dataclass(frozen=True)
class Rules:
    """Routes and channels, and what people ask for at one moment (Unix milliseconds)."""

    router: Router
    asked: Holds
    at: int

    @cached_property
    def holds(self) -> HoldsAt:
        return self.asked.at(self.at)


def _utc(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
