"""A start: what is so now is told where routes and channels are others than they were. Pure."""

from collections.abc import Collection, Mapping, Sequence

from warren.contracts import OpenIncident, RouteProgress, Told

from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, News, Router, is_known, next_at, sent_to
from warren_notifier.routing.routes import Route


def on_start(
    router: Router,
    change: Change,
    incident: OpenIncident,
    told: Mapping[str, Told],
    now: int,
    under_way: Collection[str] = (),
) -> Decision | None:
    """What is so now, for routes and channels that were added while the incident is open, for
    channels that lead to another place than the one that was told, and for those that refused
    what they were told, or did not answer in time: what was wrong may be mended.
    """
    moved = {name for name, knows in told.items() if router.channel_of(knows) is None}
    told = {name: knows for name, knows in told.items() if name not in moved}
    progress, news = dict(incident.routes), list[News]()
    targets = router.targets(change, now)
    known = sent_to(targets, incident)
    for route, channels in targets:
        unheard = [c for c in channels if c not in told and (c in moved or c not in known)]
        failed = [
            c
            for c in channels
            if c in told and not is_known(told[c], change) and c not in under_way
        ]
        ours = [*unheard, *(c for c in channels if c in told)]
        news += [
            router.opening(change, incident.offset, route, channel, told, now)
            for channel in (*unheard, *failed)
        ]
        if ours or route.name in progress:
            done = progress.get(route.name, RouteProgress())
            progress[route.name] = _as_set_now(route, done, ours, now)
        progress |= router.resent(route, unheard, progress, now)
    if progress == incident.routes and not news:
        return None
    return Decision(incident.model_copy(update={"routes": progress}), tuple(news))


def _as_set_now(
    route: Route, done: RouteProgress, channels: Sequence[str], now: int
) -> RouteProgress:
    """The progress of a route whose name, interval or channels may be others than they were."""
    repeat_at = next_at(route.repeat_interval_ms, now)
    if repeat_at is not None and done.repeat_at is not None:
        repeat_at = min(repeat_at, done.repeat_at)
    update = {
        "channels": list(dict.fromkeys([*done.channels, *channels])),
        "repeat_at": repeat_at,
    }
    return done.model_copy(update=update)
