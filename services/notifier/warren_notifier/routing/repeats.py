"""Repeats: who is told again of an incident that lasts, and when. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from warren.contracts import OpenIncident, RouteProgress, Told

from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, Router, resend_key, sent_to
from warren_notifier.routing.routes import Route


def on_repeat(
    router: Router,
    change: Change,
    incident: OpenIncident,
    told: Mapping[str, Told],
    under_way: Collection[str],
    now: int,
    *,
    is_looked_after: bool = False,
) -> Decision | None:
    """Deliveries that are due again for an incident that is still open; None when none is.

    `change` is the incident's newest. `under_way`: channels with a pending delivery of it;
    there is nothing to repeat there. `is_looked_after`: nobody need be reminded.
    """
    progress, news = dict(incident.routes), []
    targets = router.targets(change, now)
    known = sent_to(targets, incident)
    passed = {key for key, done in progress.items() if (done.repeat_at or now) < now}
    for route, channels in targets:
        for key, interval, some in _by_clock(router, route, channels, progress):
            passed.discard(key)
            if is_looked_after and key == route.name:
                continue
            done = progress.get(key)
            if not interval or done is None or done.repeat_at is None or done.repeat_at > now:
                continue
            dues = dict.fromkeys(some, now)
            if key == route.name:  # who must hear of it again does not wait for longer
                dues = {channel: _due(told.get(channel), interval, now) for channel in some}
            number = done.repeats + 1
            again = [
                router.repeated(change, incident, route, channel, told, number, now)
                for channel in some
                if dues[channel] <= now
                and channel in {*known, *done.channels}
                and channel not in under_way
            ]
            later = (at for at in dues.values() if at > now)
            update = {"repeats": number, "repeat_at": min(later, default=now + interval)}
            progress[key] = done.model_copy(update=update)
            news += again
    # Of routes that are gone, or do not match any more: nobody need look again.
    progress |= {key: progress[key].model_copy(update={"repeat_at": None}) for key in passed}
    if progress == incident.routes and not news:
        return None
    return Decision(incident.model_copy(update={"routes": progress}), tuple(news))


def _due(told: Told | None, interval: int, now: int) -> int:
    """When a channel is told again: so long after it last heard of the incident. One that has not,
    or has by a clock that was set back since, as soon as its route looks.
    """
    heard_at = told.heard_at if told is not None else None
    return now if heard_at is None or heard_at > now else heard_at + interval


def _by_clock(
    router: Router, route: Route, channels: Sequence[str], progress: Mapping[str, RouteProgress]
) -> Iterator[tuple[str, int, list[str]]]:
    """A route's channels by when they are told again: (key of the progress, milliseconds,
    channels). What forgets an incident of which it hears nothing is told as often as it needs;
    that reminds nobody, so it goes on also where nobody wants to be reminded.
    """
    resends = router.resends
    yield route.name, route.repeat_interval_ms, [one for one in channels if one not in resends]
    for channel in channels:
        if channel in resends:
            yield resend_key(route, channel, progress), resends[channel], [channel]
