"""Acknowledgements: which channels are told that somebody looks after an incident. Pure."""

from collections.abc import Collection, Mapping

from warren.contracts import Acknowledged, Acknowledgement, OpenIncident, PendingDelivery, Told

from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, News, Router, acknowledgement_id


def on_acknowledged(
    router: Router,
    change: Change,
    incident: OpenIncident,
    told: Mapping[str, Told],
    under_way: Collection[str],
    acknowledgement: Acknowledgement,
    now: int,
) -> Decision | None:
    """Deliveries for channels that took the incident and were not told of this acknowledgement;
    None where there is none. `change` is the incident's newest. Channels that are `under_way` hear
    of it afterwards.
    """
    news = []
    for channel, knows in told.items():
        if channel not in router.acknowledging or channel in under_way or knows.status is None:
            continue
        if knows.acknowledged_at == acknowledgement.at:
            continue
        news.append(News(knows, _delivery(router, change, incident, knows, acknowledgement, now)))
    return Decision(incident, tuple(news)) if news else None


def _delivery(
    router: Router,
    change: Change,
    incident: OpenIncident,
    knows: Told,
    of: Acknowledgement,
    now: int,
) -> PendingDelivery:
    return PendingDelivery(
        delivery_id=acknowledgement_id(incident.incident_id, knows.route, knows.channel, of.at),
        event_id=change.event_id,
        incident_id=incident.incident_id,
        kind="acknowledged",
        status=change.status,
        route=knows.route,
        channel=knows.channel,
        offset=incident.offset,
        accepted_at=now,
        deadline_at=now + router.deadline_ms,
        next_attempt_at=now,
        acknowledged=Acknowledged(at=of.at, by=of.by, why=of.why),
    )
