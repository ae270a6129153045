"""Records of notifiers that queued several deliveries per incident and channel, as they are now."""

from __future__ import annotations

from warren.contracts import NotifierState, Told

from warren_notifier.routing.change import Change, Subject
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.telling import REPLACED, Ended, Telling


def folded(
    partition: int, subject: Subject, stored: NotifierState, newest: Change | None
) -> tuple[list[Telling], list[Ended]]:
    """One telling per incident and channel, with the newest delivery; the older ones end.

    `newest`: the open incident's newest change. Whether a delivery was under way was not written,
    so each may have arrived; which status a channel took was not either.
    """
    tellings: dict[tuple[str, str], Telling] = {}

    def telling(incident_id: str, channel: str, route: str) -> Telling:
        told = Told(incident_id=incident_id, channel=channel, route=route)
        return tellings.setdefault((incident_id, channel), Telling(partition, subject, told))

    if stored.incident is not None and newest is not None:
        for route, progress in stored.incident.routes.items():
            for channel in progress.channels:
                known = telling(stored.incident.incident_id, channel, route)
                if channel in stored.incident.reached:
                    update = {"status": newest.status, "uncertain": True}
                    known.told = known.told.model_copy(update=update)
    ended = []
    for pending in stored.deliveries:
        known = telling(pending.incident_id, pending.channel, pending.route)
        if pending.kind != "resolved" or not pending.awaits_opening:
            known.suspect(True)
        if known.delivery is not None:
            ended.append(Ended(known.delivery, "superseded", REPLACED))
        event = stored.events[pending.event_id]
        known.delivery = Delivery(partition, subject, pending, event)
    return list(tellings.values()), ended
