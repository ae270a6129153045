"""What is remembered about one subject: its open incident and its pending deliveries."""

from __future__ import annotations

from warren.contracts import NotifierState, OpenIncident, PendingDelivery
from warren.errors import ContractViolation

from warren_notifier.routing.change import Change, Subject, read_change
from warren_notifier.state.delivery import Delivery


class SubjectState:
    """One subject's state. `offset`: the newest event that was taken in, -1 for none."""

    def __init__(self, partition: int, subject: Subject) -> None:
        self.partition = partition
        self.subject = subject
        self.offset = -1
        self.incident: OpenIncident | None = None
        self.change: Change | None = None
        """The open incident's newest change."""
        self._deliveries: dict[str, Delivery] = {}

    @classmethod
    def restored(cls, partition: int, stored: NotifierState) -> SubjectState:
        """The state that was stored; raises ContractViolation when its event is no event."""
        state = cls(partition, Subject(stored.cluster, stored.group, stored.event_type))
        state.offset = stored.offset
        state.incident = stored.incident
        if stored.incident is not None:
            state.change = read_change(stored.events[stored.incident.event_id].encode())
            if state.change is None:
                raise ContractViolation("an incident's event is of an unknown type")
        for pending in stored.deliveries:
            state.add(pending, stored.events[pending.event_id])
        return state

    @property
    def empty(self) -> bool:
        """Whether there is nothing to remember but `offset`."""
        return self.incident is None and not self._deliveries

    @property
    def deliveries(self) -> list[Delivery]:
        """Pending deliveries in the order in which they were decided."""
        return list(self._deliveries.values())

    def add(self, pending: PendingDelivery, event: str) -> Delivery:
        delivery = Delivery(self.partition, self.subject, pending, event)
        self._deliveries[pending.delivery_id] = delivery
        return delivery

    def holds(self, delivery: Delivery) -> bool:
        return self._deliveries.get(delivery.pending.delivery_id) is delivery

    def remove(self, delivery: Delivery) -> None:
        """The delivery has come to its end."""
        self._deliveries.pop(delivery.pending.delivery_id, None)

    def keep(self, change: Change, incident: OpenIncident | None) -> None:
        """Replaces the open incident; None closes it."""
        self.incident, self.change = incident, change if incident is not None else None

    def reached(self, delivered: PendingDelivery) -> None:
        """Notes that a channel took a delivery; the incident's end need not wait for it longer."""
        incident, channel = self.incident, delivered.channel
        if incident is not None and incident.incident_id == delivered.incident_id:
            reached = list(dict.fromkeys([*incident.reached, channel]))
            self.incident = incident.model_copy(update={"reached": reached})
        for delivery in self._deliveries.values():
            waiting = delivery.pending
            if (waiting.channel, waiting.incident_id) == (channel, delivered.incident_id):
                delivery.pending = waiting.model_copy(update={"awaits_opening": False})

    def under_way(self, incident_id: str) -> set[str]:
        """Channels with a pending delivery of an incident."""
        return {
            delivery.pending.channel
            for delivery in self._deliveries.values()
            if delivery.pending.incident_id == incident_id
        }

    def to_store(self) -> NotifierState:
        """The state as `warren.notifier-state` has it."""
        events = {d.pending.event_id: d.event for d in self._deliveries.values()}
        if self.change is not None:
            events[self.change.event_id] = self.change.event
        return NotifierState(
            cluster=self.subject.cluster,
            group=self.subject.group,
            event_type=self.subject.event_type,
            offset=self.offset,
            incident=self.incident,
            deliveries=[delivery.pending for delivery in self._deliveries.values()],
            events=events,
        )
