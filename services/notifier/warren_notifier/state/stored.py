"""A subject's state as `warren.notifier-state` has it: written, and restored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from warren.contracts import NotifierState, Told
from warren.errors import ContractViolation

from warren_notifier.routing.change import Change, Subject, as_known, read_stored
from warren_notifier.state.delivery import Delivery, Ended, Key
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import REPLACED, Telling


def to_store(
    state: SubjectState, is_sent_at_once: Callable[[Delivery], bool] = lambda _: False
) -> NotifierState:
    """The contract's record of a state. `is_sent_at_once`: as soon as that is written."""
    events = {d.pending.event_id: d.event for d in state.deliveries}
    incident = state.incident
    if state.change is not None:
        events[state.change.event_id] = state.change.event
    if incident is not None:
        reached = [t.told.channel for t in state.of_incident() if t.told.status is not None]
        incident = incident.model_copy(update={"reached": reached})
    return NotifierState(
        cluster=state.subject.cluster,
        group=state.subject.group,
        event_type=state.subject.event_type,
        offset=state.offset,
        incident=incident,
        deliveries=[delivery.pending for delivery in state.deliveries],
        told=[telling.to_store(is_sent_at_once) for telling in state.tellings.values()],
        flaps=state.flaps,
        events=events,
    )


def restored(partition: int, stored: NotifierState) -> tuple[SubjectState, list[Ended]]:
    """The state that was stored, and deliveries that end by that.

    Raises ContractViolation when its event is no event.
    """
    subject = Subject(stored.cluster, stored.group, stored.event_type)
    change = None
    if stored.incident is not None:
        read = read_stored(stored.events[stored.incident.event_id])
        if read is None:
            raise ContractViolation("an incident's event is of an unknown type")
        change = as_known(read, stored.incident)
    state = SubjectState(
        partition, subject, stored.offset, stored.incident, change, flaps=stored.flaps
    )
    if stored.told is None:
        tellings, ended = _folded(state, stored)
        return replace(state, tellings=tellings), ended
    tellings, ended = {}, []
    for told in stored.told:
        if told.replaced is not None:  # killed before its outcome was known
            lost = Delivery(partition, subject, told.replaced, "")
            ended.append(Ended(lost, "superseded", REPLACED))
        telling = Telling(told.model_copy(update={"replaced": None}))
        tellings[telling.key] = telling
    for pending in stored.deliveries:
        known = tellings.get((pending.incident_id, pending.channel))
        if known is None:
            raise ContractViolation("a delivery's channel is not among those told")
        delivery = Delivery(partition, subject, pending, stored.events[pending.event_id])
        tellings[known.key] = replace(known, delivery=delivery)
    return replace(state, tellings=tellings).without_done(), ended


def _folded(state: SubjectState, stored: NotifierState) -> tuple[dict[Key, Telling], list[Ended]]:
    """Of a notifier that queued several deliveries per incident and channel: one telling each, with
    the newest delivery; the older ones end.

    Whether a delivery was under way was not written, so each may have arrived; which status a
    channel took was not either.
    """
    tellings: dict[Key, Telling] = {}

    def telling(incident_id: str, channel: str, route: str) -> Telling:
        told = Told(incident_id=incident_id, channel=channel, route=route)
        return tellings.setdefault((incident_id, channel), Telling(told))

    newest: Change | None = state.change
    if stored.incident is not None and newest is not None:
        for route, progress in stored.incident.routes.items():
            for channel in progress.channels:
                known = telling(stored.incident.incident_id, channel, route)
                if channel in stored.incident.reached:
                    tellings[known.key] = known.knowing(status=newest.status, uncertain=True)
    ended = []
    for pending in stored.deliveries:
        known = telling(pending.incident_id, pending.channel, pending.route)
        if pending.kind != "resolved" or not pending.awaits_opening:
            known = known.knowing(uncertain=True)
        if known.delivery is not None:
            ended.append(Ended(known.delivery, "superseded", REPLACED))
        event = stored.events[pending.event_id]
        delivery = Delivery(state.partition, state.subject, pending, event)
        tellings[known.key] = replace(known, delivery=delivery)
    return tellings, ended
