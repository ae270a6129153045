"""A subject's state as `warren.notifier-state` has it: written, and restored."""

from collections.abc import Callable
from dataclasses import replace

from warren.contracts import NotifierState
from warren.errors import ContractViolation

from warren_notifier.routing.change import Subject, as_known, read_stored
from warren_notifier.state.delivery import Delivery, Ended, Key
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import REPLACED, Telling


def to_store(
    state: SubjectState, is_sent_at_once: Callable[[Delivery], bool] = lambda _: False
) -> NotifierState:
    """The contract's record of a state. `is_sent_at_once`: as soon as that is written."""
    events = {d.pending.event_id: d.event for d in state.deliveries}
    if state.change is not None:
        events[state.change.event_id] = state.change.event
    return NotifierState(
        cluster=state.subject.cluster,
        group=state.subject.group,
        event_type=state.subject.event_type,
        offset=state.offset,
        incident=state.incident,
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
    tellings, ended = dict[Key, Telling](), list[Ended]()
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
