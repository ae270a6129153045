"""Escalation: who else is told of an incident that stays bad and that nobody looks after."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from warren.contracts import OpenIncident, RouteProgress, Told

from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, News, Router
from warren_notifier.routing.routes import Route, matching


def on_escalate(
    router: Router,
    change: Change,
    incident: OpenIncident,
    told: Mapping[str, Told],
    now: int,
    held: Collection[str] = (),
    under_way: Collection[str] = (),
) -> Decision | None:
    """Openings on the further channels of routes whose time has come; None where none has.

    `change` is the incident's newest; routes that are `held` wait. `under_way`: channels with a
    pending delivery of it. From then on these channels are told as the route's own.
    """
    progress, news = dict(incident.routes), list[News]()
    for route in matching(router.routes, change):
        done = progress.get(route.name)
        if done is None or route.name in held or not _is_due(route, done, now):
            continue
        reached = {one.told.channel for one in news}
        further = [channel for channel in route.escalate_to if router.hears(channel, change)]
        for channel in further:
            knows = told.get(channel)
            if channel in reached or channel in under_way or (knows is not None and knows.opened):
                continue  # by another route
            news.append(router.opening(change, incident.offset, route, channel, told, now))
        telling = [one.told.channel for one in news if one.told.route == route.name]
        progress |= router.resent(route, telling, progress, now)
        progress[route.name] = done.model_copy(
            update={
                "escalated": True,
                "channels": list(dict.fromkeys([*done.channels, *further])),
            }
        )
    if progress == incident.routes:
        return None
    return Decision(incident.model_copy(update={"routes": progress}), tuple(news))


def escalate_at(routes: Iterable[Route], incident: OpenIncident | None) -> int | None:
    """When the first route may have to; Unix milliseconds. None where none will."""
    known = incident.routes if incident is not None else {}
    due = [_due(route, known[route.name]) for route in routes if route.name in known]
    return min((at for at in due if at is not None), default=None)


def _is_due(route: Route, done: RouteProgress, now: int) -> bool:
    at = _due(route, done)
    return at is not None and at <= now


def _due(route: Route, done: RouteProgress) -> int | None:
    if not route.escalate_to or done.escalated or done.bad_since is None:
        return None
    return done.bad_since + route.escalate_after_ms


def begun_anew(incident: OpenIncident, routes: Iterable[str], now: int) -> OpenIncident:
    """The incident, whose time until escalation begins `now` on `routes`: they have told nobody
    before, for what they had to tell was put off.
    """
    progress = {
        name: done.model_copy(update={"bad_since": now})
        if name in routes and done.bad_since is not None and not done.escalated
        else done
        for name, done in incident.routes.items()
    }
    return incident.model_copy(update={"routes": progress})
