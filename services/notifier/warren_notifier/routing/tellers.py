"""Which route tells a channel of a change, where several name it: one, so that it hears of it once,
and none that is muted as long as another one is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from warren_notifier.routing.mute_windows import muted_until
from warren_notifier.routing.routes import Route

Muted = Callable[[Route], int | None]
"""Until when a route is muted, Unix milliseconds; None: it is not."""


def muted_at(now: int) -> Muted:
    """As it is `now`, each route looked at once."""
    ends: dict[str, int | None] = {}

    def muted(route: Route) -> int | None:
        if route.name not in ends:
            ends[route.name] = muted_until(route.mute, now)
        return ends[route.name]

    return muted


def contested(routes: Iterable[Route]) -> frozenset[str]:
    """Channels that several routes name."""
    named = Counter(one for r in routes for one in {*r.channels, *r.escalate_to})
    return frozenset(channel for channel, routes_ in named.items() if routes_ > 1)


def channels_told(named: Sequence[tuple[Route, Sequence[str]]], muted: Muted) -> list[list[str]]:
    """Of each route the channels that it tells. `named`: matching routes, with those they name.

    Each channel is told by the first route that is not muted; where all are, by the first that is
    so no longer.
    """
    tellers: dict[str, Route] = {}
    for route, channels in named:
        for channel in channels:
            before = tellers.setdefault(channel, route)
            if before is not route and (muted(route) or 0) < (muted(before) or 0):
                tellers[channel] = route
    return [[c for c in dict.fromkeys(cs) if tellers[c] is route] for route, cs in named]
