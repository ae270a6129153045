"""What channels are to be told because of a change: pure decisions over a group's open incident.

The same change, incident and knowledge always give the same deliveries with the same ids.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from warren.contracts import (
    ChannelIdentity,
    DeliveryKind,
    Notified,
    OpenIncident,
    PendingDelivery,
    RouteProgress,
)

from warren_notifier.routing.change import Change, Severity
from warren_notifier.routing.routes import Grouping, Route, channels_notified, matching

_DELIVERIES = UUID("0d7a4b39-6f0b-4c0c-9a55-6f4e5b2f3a11")  # namespace of delivery ids


@dataclass(frozen=True, slots=True)
class News:
    """What a channel is to know next: `delivery`, or nothing more than it knows already."""

    notified: Notified
    delivery: PendingDelivery | None


@dataclass(frozen=True, slots=True)
class Decision:
    """`incident`: the open one afterwards."""

    incident: OpenIncident | None
    news: tuple[News, ...] = ()

    @property
    def deliveries(self) -> list[PendingDelivery]:
        return [one.delivery for one in self.news if one.delivery is not None]


@dataclass(frozen=True, slots=True)
class Router:
    """Decides: the routes in force, how long a delivery may take, and the channels there are.

    So many incidents within the window are flapping; 0 for never. `resends`: milliseconds after
    which channels must hear of an open incident again, by name. `acknowledging`: channels that are
    told that somebody looks after an incident.
    """

    routes: Sequence[Route]
    deadline_ms: int
    identities: Mapping[str, ChannelIdentity] = field(default_factory=dict)
    grouping: Grouping = field(default_factory=Grouping)
    flap_openings: int = 0
    flap_window_ms: int = 0
    resends: Mapping[str, int] = field(default_factory=dict)
    acknowledging: Collection[str] = ()

    def on_change(
        self,
        change: Change,
        offset: int,
        incident: OpenIncident | None,
        notified: Mapping[str, Notified],
        now: int,
        *,
        again: bool = False,
    ) -> Decision:
        """`incident`: the open one. `told`: what channels know of it, by channel. `again`: those
        are told, too, who know the change's status.
        """
        if change.closing:
            return Decision(None, tuple(self._closing(change, offset, notified, now)))
        if incident is None or incident.incident_id != change.incident_id:
            notified = {}
            incident = OpenIncident(
                incident_id=change.incident_id, event_id=change.event_id, offset=offset
            )
        progress, news = dict(incident.routes), list[News]()
        for route, channels in self.targets(change, now):
            done = incident.routes.get(route.name, RouteProgress())
            for channel in channels:
                knows = self._knows(change, route, channel, notified)
                if not is_known(knows, change) or knows.uncertain:
                    news.append(self._news_of(change, offset, route.name, knows, now))
                    continue
                delivery = None
                if again:
                    delivery = self._delivery(change, offset, route.name, knows, "repeated", now)
                news.append(News(knows, delivery))
            progress[route.name] = done.model_copy(
                update={
                    "channels": list(dict.fromkeys([*done.channels, *channels])),
                    "repeat_at": next_at(route.repeat_interval_ms, now),
                }
            )
            progress |= self.resent(route, channels, progress, now)
        news += self._eased(change, offset, notified, {one.notified.channel for one in news}, now)
        changed = incident.model_copy(
            update={"event_id": change.event_id, "offset": offset, "routes": progress}
        )
        return Decision(changed, tuple(news))

    def _eased(
        self,
        change: Change,
        offset: int,
        notified: Mapping[str, Notified],
        reached: Collection[str],
        now: int,
    ) -> Iterator[News]:
        """Whoever was told of worse is told that it is not so bad any more, though no route that
        leads there wants to know of incidents like this; what has not arrived is withdrawn.
        """
        for channel, knows in notified.items():
            if channel in reached or is_known(knows, change):
                continue
            if knows.status is not None and Severity[knows.status] < change.severity:
                continue
            due = self._due_by(change, knows)
            if not due.opened:
                yield News(knows.model_copy(update={"awaits_since": None}), None)
                continue
            yield replace(self._news_of(change, offset, knows.route, knows, now), notified=due)

    def _due_by(self, change: Change, notified: Notified) -> Notified:
        """What a channel knows by a change that ends, or eases, what it was to be told: whoever
        was told nothing of what has lasted for longer than it waits for others has missed it.
        """
        if notified.status is not None or notified.digest is None or notified.awaits_since is None:
            return notified
        wait = self.grouping.wait_ms(notified.route, notified.digest, "opened")
        if not change.lost and change.at - notified.awaits_since <= wait:
            return notified
        return notified.model_copy(update={"missed": True})

    def opening(
        self,
        change: Change,
        offset: int,
        route: Route,
        channel: str,
        notified: Mapping[str, Notified],
        now: int,
    ) -> News:
        """A channel is to know of an incident that it was not told of, or not as it is now."""
        knows = self._knows(change, route, channel, notified)
        return self._news_of(change, offset, route.name, knows, now)

    def _news_of(self, change: Change, offset: int, route: str, knows: Notified, now: int) -> News:
        """Who knows nothing of the incident yet is told that it has opened."""
        kind: DeliveryKind = "changed" if knows.opened else "opened"
        return News(knows, self._delivery(change, offset, route, knows, kind, now))

    def _closing(
        self, change: Change, offset: int, notified: Mapping[str, Notified], now: int
    ) -> Iterator[News]:
        """Ends go where the incident was opened, whatever the routes say now."""
        closed = set()
        for channel, known in notified.items():
            knows = self._due_by(change, known)
            is_unwanted = known.opened or not knows.missed
            if is_unwanted and not knows.closes:
                yield News(knows, None)
                continue
            closed.add(channel)
            end = self._delivery(change, offset, knows.route, knows, "resolved", now)
            yield News(knows, end.model_copy(update={"incident_id": knows.incident_id}))
        for route, channels in self.targets(change, now):
            for channel in channels:
                if channel not in closed:
                    knows = self._knows(change, route, channel, notified)
                    delivery = self._delivery(change, offset, route.name, knows, "changed", now)
                    yield News(knows, delivery)

    def repeated(
        self,
        change: Change,
        incident: OpenIncident,
        route: Route,
        channel: str,
        notified: Mapping[str, Notified],
        number: int,
        now: int,
    ) -> News:
        """A channel is to be told of an incident again, for the route's time with this `number`."""
        knows = self._knows(change, route, channel, notified)
        at = (incident.offset, route.name, knows)
        return News(knows, self._delivery(change, *at, "repeated", now, repeat=number))

    def resent(
        self, route: Route, notified: Sequence[str], progress: Mapping[str, RouteProgress], now: int
    ) -> dict[str, RouteProgress]:
        """The progress of channels that have just been told and must hear of it again."""
        found = {}
        for channel in notified:
            if channel in self.resends:
                key = resend_key(route, channel, progress)
                at = next_at(self.resends[channel], now)
                done = progress.get(key, RouteProgress(channels=[channel]))
                found[key] = done.model_copy(update={"repeat_at": at})
        return found

    def channel_of(self, notified: Notified) -> str | None:
        """The channel that was told, under the name that it has now; None when it is gone.

        One that leads to the same place under another name is it; so is one of the same name and
        kind whose token, path or recipients are others.
        """
        here, was = self.identities.get(notified.channel), notified.identity
        if was is None or here == was:
            return notified.channel
        for name, identity in self.identities.items():
            if identity == was:
                return name
        if here is not None and (here.kind, here.place) == (was.kind, was.place):
            return notified.channel
        return None

    def _knows(
        self, change: Change, route: Route, channel: str, notified: Mapping[str, Notified]
    ) -> Notified:
        """What a channel knows that is told by `route` now."""
        known = notified.get(channel)
        if known is not None and not known.opened and known.heard_at is None:
            since = change.at if known.awaits_since is None else known.awaits_since
            known = known.model_copy(update={"awaits_since": since})
        if known is not None and (known.closes or not route.send_resolved):
            return known
        known = known or Notified(
            incident_id=change.incident_id,
            channel=channel,
            route=route.name,
            digest=self.grouping.key(change, route, channel),
            awaits_since=change.at,
        )
        return known.model_copy(
            update={
                "route": route.name,
                "closes": route.send_resolved,
                "identity": known.identity or self.identities.get(channel),
            }
        )

    def targets(self, change: Change, now: int) -> list[tuple[Route, list[str]]]:
        """Matching routes with the channels that they tell; each channel once."""
        found = matching(self.routes, change)
        notified = channels_notified([(route, route.channels) for route in found], now)
        return list(zip(found, notified, strict=True))

    def _delivery(
        self,
        change: Change,
        offset: int,
        route: str,
        knows: Notified,
        kind: DeliveryKind,
        now: int,
        *,
        repeat: int = 0,
    ) -> PendingDelivery:
        return PendingDelivery(
            delivery_id=delivery_id(change.event_id, route, knows.channel, repeat),
            event_id=change.event_id,
            incident_id=change.incident_id,
            kind=kind,
            status=change.status,
            conditions=change.conditions,
            route=route,
            channel=knows.channel,
            offset=offset,
            repeat=repeat,
            # It tells of an ERR or a loss that begins.
            cannot_wait=kind in ("opened", "changed")
            and (change.loses or (change.severity is Severity.ERR and knows.status != "ERR")),
            accepted_at=now,
            deadline_at=now + self.deadline_ms,
            next_attempt_at=now + self.grouping.wait_ms(route, knows.digest, kind),
        )


def is_known(notified: Notified, change: Change) -> bool:
    """Whether a channel took a delivery that says how it is by this change."""
    return notified.status == change.status and notified.conditions == change.conditions


def delivery_id(event_id: str, route: str, channel: str, repeat: int | str = 0) -> str:
    """Deterministic. Route and channel names have no `|`, so different inputs never meet; `repeat`
    is a number, or says what else the delivery tells of.
    """
    return str(uuid5(_DELIVERIES, f"{route}|{channel}|{repeat}|{event_id}"))


def next_at(interval_ms: int, now: int) -> int | None:
    return now + interval_ms if interval_ms else None


def resend_key(route: Route, channel: str, progress: Mapping[str, RouteProgress]) -> str:
    """No route is named so: names have no `|`. Once a route has told the channel, it stays that
    one's, whichever tells it now.
    """
    known = (key for key in progress if key.endswith(f"|{channel}"))
    return next(known, f"{route.name}|{channel}")


def sent_to(targets: Sequence[tuple[Route, Sequence[str]]], incident: OpenIncident) -> set[str]:
    """Channels that these routes have sent an incident to, each by whichever told it then."""
    routes = [incident.routes.get(route.name, RouteProgress()) for route, _ in targets]
    return {channel for done in routes for channel in done.channels}
