"""Who would be told of a change, and why: what each route says of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warren.contracts import DigestKey

from warren_notifier.routing.change import Change
from warren_notifier.routing.grouping import Grouping
from warren_notifier.routing.routes import Route
from warren_notifier.silences.mute_windows import muted_until


@dataclass(frozen=True, slots=True)
class ChannelPart:
    """`digest`: with what it is told together; None: alone. `wait_ms`: until its first message."""

    name: str
    digest: DigestKey | None
    wait_ms: int


@dataclass(frozen=True, slots=True)
class RoutePart:
    """What one route does about a change. `why_not`: None where it takes it; `why`: what makes it.

    `channels`: those that no route before it tells. `muted_until`: Unix milliseconds, or None.
    """

    name: str
    why_not: str | None
    why: tuple[str, ...] = ()
    channels: tuple[ChannelPart, ...] = ()
    muted_until: int | None = None
    escalate_after_ms: int = 0
    escalate_to: tuple[str, ...] = ()


def explain(
    routes: Sequence[Route], grouping: Grouping, change: Change, now: int
) -> list[RoutePart]:
    """Of each route, in their order, as `Router` decides."""
    parts: list[RoutePart] = []
    taken: set[str] = set()
    taken_by = ""
    for route in routes:
        why_not = route.mismatch(change)
        if why_not is None and taken_by:
            why_not = f"{taken_by} took it, without continue_matching"
        if why_not is not None:
            parts.append(RoutePart(route.name, why_not))
            continue
        channels = [channel for channel in route.channels if channel not in taken]
        taken.update(channels)
        parts.append(
            RoutePart(
                route.name,
                None,
                tuple(route.reasons(change)),
                tuple(_channel(grouping, route, channel, change) for channel in channels),
                muted_until(route.mute, now),
                route.escalate_after_ms,
                route.escalate_to,
            )
        )
        if not route.continue_matching:
            taken_by = route.name
    return parts


def _channel(grouping: Grouping, route: Route, channel: str, change: Change) -> ChannelPart:
    key = grouping.key(change, route, channel)
    return ChannelPart(channel, key, grouping.wait_ms(route.name, key, "opened"))
