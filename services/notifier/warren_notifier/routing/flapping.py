"""Groups that are well and not well by turns: told once, and again when they have been quiet.

The incident that is told as flapping stays open until then, whatever happens meanwhile, unless it
gets worse than was told. All times are those of events, so that replays decide the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from warren.contracts import (
    Flapping,
    Flaps,
    GroupIncidentEvent,
    Notified,
    OpenIncident,
    PendingDelivery,
)

from warren_notifier.routing.change import Change, Severity, as_known, change_of
from warren_notifier.routing.decisions import Decision, News, Router


@dataclass(frozen=True, slots=True)
class Damped:
    """`decisions`: to be taken over one after the other. `withheld`: what newer news replace that
    was not told, with its change.
    """

    flaps: Flaps | None
    decisions: tuple[tuple[Change, Decision], ...] = ()
    withheld: tuple[tuple[Change, PendingDelivery], ...] = ()


@dataclass(frozen=True, slots=True)
class Damping:
    """As the router's settings are: so many incidents within the window are flapping, no change for
    as long is quiet.
    """

    router: Router

    def on_change(
        self,
        change: Change,
        offset: int,
        incident: OpenIncident | None,
        notified: Mapping[str, Notified],
        flaps: Flaps | None,
        now: int,
    ) -> Damped:
        """As `Router.on_change`, which decides wherever nothing flaps."""
        known = self._counted(flaps or Flaps(), change, incident)
        if incident is None or known.since is None:
            decision = self.router.on_change(change, offset, incident, notified, now)
            if not self.router.flap_openings or len(known.openings) < self.router.flap_openings:
                return Damped(known if known.openings else None, ((change, decision),))
            known = known.model_copy(update={"since": change.at, "status": change.status})
            return Damped(known, ((change, self._marked(decision, known)),))
        if change.severity > Severity[known.status or "OK"]:
            return self._worse(change, offset, incident, notified, known, now)
        return self._withheld(change, offset, incident, known, now)

    def calm_at(self, flaps: Flaps) -> int:
        """From when on it has been quiet for long enough, unless something changes."""
        return flaps.changed_at + self.router.flap_window_ms if self.router.flap_openings else 0

    def calm(
        self,
        incident: OpenIncident | None,
        notified: Mapping[str, Notified],
        flaps: Flaps,
        now: int,
    ) -> Damped:
        """What is so now that it has been quiet."""
        return Damped(None, tuple(self._untold(incident, notified, flaps, now)))

    def _counted(self, flaps: Flaps, change: Change, incident: OpenIncident | None) -> Flaps:
        """With the change, if it begins an incident; what is older than the window is forgotten."""
        latest = _read(flaps.latest, incident)
        running = incident.incident_id if incident is not None and flaps.end is None else None
        running = latest.incident_id if latest is not None else running
        begins = not change.closing and (change.incident_id != running or change.begins)
        openings = [at for at in flaps.openings if at > change.at - self.router.flap_window_ms]
        openings += [change.at] if begins else []
        kept = openings[-self.router.flap_openings :] if self.router.flap_openings else []
        return flaps.model_copy(update={"openings": kept, "changed_at": change.at})

    def _withheld(
        self, change: Change, offset: int, incident: OpenIncident, flaps: Flaps, now: int
    ) -> Damped:
        told_one = change.incident_id == incident.incident_id and flaps.end is None
        update: dict[str, object] = {"latest": None, "left_out": flaps.left_out + 1}
        if not change.closing:
            update |= {"latest": change.event, "latest_offset": offset}
        elif told_one:
            update |= {"end": change.event, "end_offset": offset}
        replaced = tuple(self._replaced(flaps, incident, now))
        return Damped(flaps.model_copy(update=update), withheld=replaced)

    def _worse(
        self,
        change: Change,
        offset: int,
        incident: OpenIncident,
        notified: Mapping[str, Notified],
        flaps: Flaps,
        now: int,
    ) -> Damped:
        """Told at once; of another incident, once the one that was told has its end."""
        open_now: OpenIncident | None = incident
        decisions = []
        if flaps.end is not None:
            ended = flaps.model_copy(update={"latest": None})
            decisions += list(self._untold(incident, notified, ended, now))
            open_now, notified = None, {}
        replaced = tuple(self._replaced(flaps, incident, now))
        nothing = {"end": None, "latest": None, "left_out": 0, "status": change.status}
        known = flaps.model_copy(update=nothing)
        decision = self.router.on_change(change, offset, open_now, notified, now)
        decisions.append((change, self._marked(decision, known)))
        return Damped(known, tuple(decisions), replaced)

    def _untold(
        self,
        incident: OpenIncident | None,
        notified: Mapping[str, Notified],
        flaps: Flaps,
        now: int,
    ) -> Iterator[tuple[Change, Decision]]:
        """The end of what was told; or what is so now, of the same incident: who knows of it is
        told neither that all is well nor of another one.
        """
        end, latest = _read(flaps.end, incident), _read(flaps.latest, incident)
        if latest is not None and incident is not None:
            if latest.incident_id != incident.incident_id:
                update = {"goes_on_as": latest.incident_id}
                incident = incident.model_copy(update=update)
                latest = as_known(latest, incident)
            at = (latest, flaps.latest_offset)
            decision = self.router.on_change(*at, incident, notified, now, again=True)
            yield latest, _with(decision, left_out=max(flaps.left_out - 1, 0))
        elif end is not None:
            decision = self.router.on_change(end, flaps.end_offset, incident, notified, now)
            yield end, _with(decision, left_out=flaps.left_out)

    def _replaced(
        self, flaps: Flaps, incident: OpenIncident, now: int
    ) -> Iterator[tuple[Change, PendingDelivery]]:
        """The deliveries that what was withheld would have led to."""
        latest = _read(flaps.latest, incident)
        if latest is not None:
            decision = self.router.on_change(latest, flaps.latest_offset, None, {}, now)
            yield from ((latest, delivery) for delivery in decision.deliveries)

    def _marked(self, decision: Decision, flaps: Flaps) -> Decision:
        flapping = Flapping(
            openings=len(flaps.openings),
            since=flaps.openings[0],
            quiet_ms=self.router.flap_window_ms,
        )
        return _with(decision, flapping=flapping)


def _with(decision: Decision, **fields: object) -> Decision:
    news = tuple(
        News(one.notified, one.delivery and one.delivery.model_copy(update=fields))
        for one in decision.news
    )
    return replace(decision, news=news)


def _read(event: GroupIncidentEvent | None, incident: OpenIncident | None) -> Change | None:
    return None if event is None else as_known(change_of(event), incident)
