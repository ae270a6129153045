"""Who would be told of a change, and why: what each route says of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warren.contracts import DigestKey

from warren_notifier.routing.change import Change
from warren_notifier.routing.routes import Grouping, Route, channels_told, matching, muted_until


@dataclass(frozen=True, slots=True)
class ChannelPart:
    """`digest`: with what it is told together; None: alone. `wait_ms`: until its first message."""

    name: str
    digest: DigestKey | None
    wait_ms: int


@dataclass(frozen=True, slots=True)
class RoutePart:
    """What one route does about a change. `why_not`: None where it takes it; `why`: what makes it.

    `channels`: those that it tells. `elsewhere`: those that another route tells, with its name.
    `muted_until`: Unix milliseconds, or None.
    """

    name: str
    why_not: str | None
    why: tuple[str, ...] = ()
    channels: tuple[ChannelPart, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    muted_until: int | None = None


def explain(
    routes: Sequence[Route], grouping: Grouping, change: Change, now: int
) -> list[RoutePart]:
    """Of each route, in their order, as `Router` decides."""
    taking = matching(routes, change)
    told = channels_told([(route, route.channels) for route in taking], now)
    telling = {route.name: channels for route, channels in zip(taking, told, strict=True)}
    tellers = {channel: name for name, channels in telling.items() for channel in channels}
    parts: list[RoutePart] = []
    for route in routes:
        if route not in taking:
            why_not = route.mismatch(change)
            why_not = why_not or f"{taking[-1].name} took it, without continue_matching"
            parts.append(RoutePart(route.name, why_not))
            continue
        others = [channel for channel in route.channels if tellers[channel] != route.name]
        parts.append(
            RoutePart(
                route.name,
                None,
                tuple(route.reasons(change)),
                tuple(_channel(grouping, route, one, change) for one in telling[route.name]),
                tuple((channel, tellers[channel]) for channel in others),
                muted_until(route.mute, now),
            )
        )
    return parts


def _channel(grouping: Grouping, route: Route, channel: str, change: Change) -> ChannelPart:
    key = grouping.key(change, route, channel)
    return ChannelPart(channel, key, grouping.wait_ms(route.name, key, "opened"))
