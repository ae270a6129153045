"""Which incidents are told together, in one message, and how long they wait for each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warren.contracts import DeliveryKind, DigestKey, Label
from warren.settings.notifier import LabelName

from warren_notifier.routing.change import Change
from warren_notifier.routing.routes import Route

GROUP_BY: tuple[LabelName, ...] = ("cluster",)
GROUP_WAIT = 30.0  # seconds, of what is told together
GROUP_INTERVAL = 300.0  # seconds, where the route is gone


@dataclass(frozen=True, slots=True)
class Grouping:
    """`digesting`: names of the channels that can tell many incidents in one message."""

    routes: Sequence[Route] = ()
    digesting: Collection[str] = ()

    def key(self, change: Change, route: Route, channel: str) -> DigestKey | None:
        """None: it is told alone."""
        by = GROUP_BY if route.group_by is None else route.group_by
        if not by or channel not in self.digesting:
            return None
        labels = tuple(Label(name=name, value=_value(name, change, route)) for name in by)
        return DigestKey(route=route.name, labels=labels)

    def wait_ms(self, route: str, key: DigestKey | None, kind: DeliveryKind) -> int:
        """How long a delivery waits for others, or an opening that is told alone for its end."""
        name = key.route if key is not None else route
        said = next((r.group_wait for r in self.routes if r.name == name), None)
        if key is None:
            return round((said or 0) * 1000) if kind == "opened" else 0
        return round((GROUP_WAIT if said is None else said) * 1000)

    def interval_ms(self, key: DigestKey) -> int:
        """Least time between two messages."""
        said = (route.group_interval for route in self.routes if route.name == key.route)
        return round(next(said, GROUP_INTERVAL) * 1000)


def _value(name: LabelName, change: Change, route: Route) -> str:
    match name:
        case "cluster":
            return change.subject.cluster
        case "route":
            return route.name
        case "topic":
            return change.topic
        case "owner":
            return change.owner
        case "cause":
            return change.cause
