"""What is to be delivered because of a change: pure decisions over a group's open incident.

The same change and incident always give the same deliveries with the same ids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from warren.contracts import DeliveryKind, OpenIncident, PendingDelivery, RouteProgress

from warren_notifier.routing.change import Change
from warren_notifier.routing.routes import Route, matching

_DELIVERIES = UUID("0d7a4b39-6f0b-4c0c-9a55-6f4e5b2f3a11")  # namespace of delivery ids


@dataclass(frozen=True, slots=True)
class Decision:
    """`incident`: the open one afterwards."""

    incident: OpenIncident | None
    deliveries: tuple[PendingDelivery, ...] = ()


@dataclass(frozen=True, slots=True)
class Router:
    """Decides: the routes in force and how long a delivery may take."""

    routes: Sequence[Route]
    deadline_ms: int

    def on_change(
        self,
        change: Change,
        offset: int,
        incident: OpenIncident | None,
        under_way: Collection[str],
        now: int,
    ) -> Decision:
        """`incident`: the open one. `under_way`: channels with a pending delivery of it."""
        if change.closing:
            return self._on_closing(change, offset, incident, now)
        if incident is None or incident.incident_id != change.incident_id:
            incident = OpenIncident(
                incident_id=change.incident_id, event_id=change.event_id, offset=offset
            )
        progress = dict(incident.routes)
        deliveries = []
        for route, channels in self._targets(change):
            done = progress.get(route.name, RouteProgress())
            for channel in channels:
                told = channel in incident.reached or channel in under_way
                kind: DeliveryKind = "changed" if told else "opened"
                deliveries.append(self._delivery(change, offset, route, channel, kind, now))
            progress[route.name] = RouteProgress(
                channels=list(dict.fromkeys([*done.channels, *channels])),
                repeats=done.repeats,
                repeat_at=_next_repeat(route, now),
            )
        changed = incident.model_copy(
            update={"event_id": change.event_id, "offset": offset, "routes": progress}
        )
        return Decision(changed, tuple(deliveries))

    def _on_closing(
        self,
        change: Change,
        offset: int,
        incident: OpenIncident | None,
        now: int,
    ) -> Decision:
        deliveries = []
        taken: set[str] = set()
        for route, channel in self._openings(incident):
            if channel in taken or incident is None:
                continue
            taken.add(channel)
            delivery = self._delivery(change, offset, route, channel, "resolved", now)
            waits = {
                "incident_id": incident.incident_id,
                "awaits_opening": channel not in incident.reached,
            }
            deliveries.append(delivery.model_copy(update=waits))
        for route, channels in self._targets(change):
            for channel in channels:
                if channel not in taken:
                    deliveries.append(
                        self._delivery(change, offset, route, channel, "changed", now)
                    )
        return Decision(None, tuple(deliveries))

    def on_repeat(
        self, change: Change, incident: OpenIncident, under_way: Collection[str], now: int
    ) -> Decision | None:
        """Deliveries that are due again for an incident that is still open; None when none is.

        `change` is the incident's newest. Where something is under way there is nothing to repeat.
        """
        progress, deliveries = dict(incident.routes), []
        for route, channels in self._targets(change):
            done = progress.get(route.name)
            if not route.repeat_interval_ms or done is None or done.repeat_at is None:
                continue
            if done.repeat_at > now:
                continue
            number = done.repeats + 1
            progress[route.name] = done.model_copy(
                update={"repeats": number, "repeat_at": _next_repeat(route, now)}
            )
            deliveries += [
                self._delivery(change, incident.offset, route, channel, "repeated", now, number)
                for channel in channels
                if channel in done.channels and channel not in under_way
            ]
        if progress == incident.routes:
            return None
        return Decision(incident.model_copy(update={"routes": progress}), tuple(deliveries))

    def _targets(self, change: Change) -> Iterator[tuple[Route, list[str]]]:
        """Matching routes with their channels; each channel once."""
        taken: set[str] = set()
        for route in matching(self.routes, change):
            channels = [channel for channel in route.channels if channel not in taken]
            taken.update(channels)
            yield route, channels

    def _openings(self, incident: OpenIncident | None) -> Iterator[tuple[Route, str]]:
        """Where the incident's end is to go: routes that told of it and want its end."""
        for route in self.routes:
            if incident is not None and route.send_resolved and route.name in incident.routes:
                for channel in incident.routes[route.name].channels:
                    if channel in route.channels:
                        yield route, channel

    def _delivery(
        self,
        change: Change,
        offset: int,
        route: Route,
        channel: str,
        kind: DeliveryKind,
        now: int,
        repeat: int = 0,
    ) -> PendingDelivery:
        return PendingDelivery(
            delivery_id=delivery_id(change.event_id, route.name, channel, repeat),
            event_id=change.event_id,
            incident_id=change.incident_id,
            kind=kind,
            status=change.status,
            route=route.name,
            channel=channel,
            offset=offset,
            repeat=repeat,
            accepted_at=now,
            deadline_at=now + self.deadline_ms,
            next_attempt_at=now,
        )


def delivery_id(event_id: str, route: str, channel: str, repeat: int = 0) -> str:
    """Deterministic. Route and channel names have no `|`, so different inputs never meet."""
    return str(uuid5(_DELIVERIES, f"{route}|{channel}|{repeat}|{event_id}"))


def _next_repeat(route: Route, now: int) -> int | None:
    return now + route.repeat_interval_ms if route.repeat_interval_ms else None
