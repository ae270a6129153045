"""What is remembered about one subject: its open incident and its pending deliveries."""

from __future__ import annotations

from dataclasses import dataclass

from warren.contracts import NotifierState, OpenIncident, PendingDelivery
from warren.errors import ContractViolation

from warren_notifier.routing.change import Change, Subject, read_change


@dataclass(slots=True)
class Entry:
    """A pending delivery, where it belongs, and what it has come to."""

    partition: int
    subject: Subject
    delivery: PendingDelivery
    event: str
    """The event's text, as published."""


class Account:
    """One subject's memory. `offset`: the newest event that was taken in, -1 for none."""

    def __init__(self, partition: int, subject: Subject) -> None:
        self.partition = partition
        self.subject = subject
        self.offset = -1
        self.incident: OpenIncident | None = None
        self.change: Change | None = None
        """The open incident's newest change."""
        self._entries: dict[str, Entry] = {}

    @classmethod
    def restored(cls, partition: int, state: NotifierState) -> Account:
        """The account of a state; raises ContractViolation when its event is no event."""
        account = cls(partition, Subject(state.cluster, state.group, state.event_type))
        account.offset = state.offset
        account.incident = state.incident
        if state.incident is not None:
            account.change = read_change(state.events[state.incident.event_id].encode())
            if account.change is None:
                raise ContractViolation("an incident's event is of an unknown type")
        for delivery in state.deliveries:
            account.add(delivery, state.events[delivery.event_id])
        return account

    @property
    def empty(self) -> bool:
        """Whether there is nothing to remember but `offset`."""
        return self.incident is None and not self._entries

    @property
    def entries(self) -> list[Entry]:
        """Pending deliveries in the order in which they were decided."""
        return list(self._entries.values())

    def add(self, delivery: PendingDelivery, event: str) -> Entry:
        entry = Entry(self.partition, self.subject, delivery, event)
        self._entries[delivery.delivery_id] = entry
        return entry

    def holds(self, entry: Entry) -> bool:
        return self._entries.get(entry.delivery.delivery_id) is entry

    def remove(self, entry: Entry) -> None:
        """The delivery has come to its end."""
        self._entries.pop(entry.delivery.delivery_id, None)

    def keep(self, change: Change, incident: OpenIncident | None) -> None:
        """Replaces the open incident; None closes it."""
        self.incident, self.change = incident, change if incident is not None else None

    def reached(self, delivery: PendingDelivery) -> None:
        """Notes that a channel took a delivery; the incident's end need not wait for it longer."""
        incident, channel = self.incident, delivery.channel
        if incident is not None and incident.incident_id == delivery.incident_id:
            reached = list(dict.fromkeys([*incident.reached, channel]))
            self.incident = incident.model_copy(update={"reached": reached})
        for entry in self._entries.values():
            waiting = entry.delivery
            if (waiting.channel, waiting.incident_id) == (channel, delivery.incident_id):
                entry.delivery = waiting.model_copy(update={"awaits_opening": False})

    def under_way(self, incident_id: str) -> set[str]:
        """Channels with a pending delivery of an incident."""
        return {
            entry.delivery.channel
            for entry in self._entries.values()
            if entry.delivery.incident_id == incident_id
        }

    def state(self) -> NotifierState:
        events = {entry.delivery.event_id: entry.event for entry in self._entries.values()}
        if self.change is not None:
            events[self.change.event_id] = self.change.event
        return NotifierState(
            cluster=self.subject.cluster,
            group=self.subject.group,
            event_type=self.subject.event_type,
            offset=self.offset,
            incident=self.incident,
            deliveries=[entry.delivery for entry in self._entries.values()],
            events=events,
        )
