"""What follows for an incident that lasts, without a change of it: who is told again and when, that
somebody looks after it, and what a start finds told otherwise. Pure.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from warren.contracts import (
    Acknowledged,
    Acknowledgement,
    Notified,
    OpenIncident,
    PendingDelivery,
    RouteProgress,
)

from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import (
    Decision,
    News,
    Router,
    delivery_id,
    is_known,
    next_at,
    resend_key,
    sent_to,
)
from warren_notifier.routing.routes import Route


def on_repeat(
    router: Router,
    change: Change,
    incident: OpenIncident,
    notified: Mapping[str, Notified],
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
                dues = {channel: _due(notified.get(channel), interval, now) for channel in some}
            number = done.repeats + 1
            again = [
                router.repeated(change, incident, route, channel, notified, number, now)
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


def _due(notified: Notified | None, interval: int, now: int) -> int:
    """When a channel is told again: so long after it last heard of the incident. One that has not,
    or has by a clock that was set back since, as soon as its route looks.
    """
    heard_at = notified.heard_at if notified is not None else None
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


def on_acknowledged(
    router: Router,
    change: Change,
    incident: OpenIncident,
    notified: Mapping[str, Notified],
    under_way: Collection[str],
    acknowledgement: Acknowledgement,
    now: int,
) -> Decision | None:
    """Deliveries for channels that took the incident and were not told of this acknowledgement;
    None where there is none. `change` is the incident's newest. Channels that are `under_way` hear
    of it afterwards.
    """
    news = []
    for channel, knows in notified.items():
        if channel not in router.acknowledging or channel in under_way or knows.status is None:
            continue
        if knows.acknowledged_at == acknowledgement.at:
            continue
        delivery = PendingDelivery(
            delivery_id=delivery_id(
                incident.incident_id, knows.route, channel, f"acknowledged|{acknowledgement.at}"
            ),
            event_id=change.event_id,
            incident_id=incident.incident_id,
            kind="acknowledged",
            status=change.status,
            route=knows.route,
            channel=channel,
            offset=incident.offset,
            accepted_at=now,
            deadline_at=now + router.deadline_ms,
            next_attempt_at=now,
            acknowledged=Acknowledged(
                at=acknowledgement.at, by=acknowledgement.by, why=acknowledgement.why
            ),
        )
        news.append(News(knows, delivery))
    return Decision(incident, tuple(news)) if news else None


def on_start(
    router: Router,
    change: Change,
    incident: OpenIncident,
    notified: Mapping[str, Notified],
    now: int,
    under_way: Collection[str] = (),
) -> Decision | None:
    """What is so now, for routes and channels that were added while the incident is open, for
    channels that lead to another place than the one that was told, and for those that refused
    what they were told, or did not answer in time: what was wrong may be mended.
    """
    moved = {name for name, knows in notified.items() if router.channel_of(knows) is None}
    notified = {name: knows for name, knows in notified.items() if name not in moved}
    progress, news = dict(incident.routes), list[News]()
    targets = router.targets(change, now)
    known = sent_to(targets, incident)
    for route, channels in targets:
        unheard = [c for c in channels if c not in notified and (c in moved or c not in known)]
        failed = [
            c
            for c in channels
            if c in notified and not is_known(notified[c], change) and c not in under_way
        ]
        ours = [*unheard, *(c for c in channels if c in notified)]
        news += [
            router.opening(change, incident.offset, route, channel, notified, now)
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
