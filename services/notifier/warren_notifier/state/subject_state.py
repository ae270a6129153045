"""What is remembered about one subject: its open incident, and what channels know and are to know.

A value: what happens gives another one. An incident's tellings outlive it where its end is still
owed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from warren.contracts import Flaps, Notified, NotifierState, OpenIncident, PendingDelivery
from warren.errors import ContractViolation

from warren_notifier.routing.change import Change, Subject, as_known, change_of
from warren_notifier.routing.decisions import Decision
from warren_notifier.state.telling import REPLACED, Delivery, Ended, Key, Telling


@dataclass(slots=True)
class SubjectState:
    """One subject's state, which nothing changes, as a telling. `offset`: the newest event that was
    taken in, -1 for none.
    """

    partition: int
    subject: Subject
    offset: int = -1
    incident: OpenIncident | None = None
    change: Change | None = None
    """The open incident's newest change."""
    flaps: Flaps | None = None
    tellings: Mapping[Key, Telling] = field(default_factory=dict)
    """In the order in which channels were first told."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to remember but `offset`."""
        return self.incident is None and not self.tellings and self.flaps is None

    @property
    def repeat_at(self) -> int | None:
        """When a route may have to repeat the open incident."""
        routes = self.incident.routes.values() if self.incident is not None else ()
        return min((r.repeat_at for r in routes if r.repeat_at is not None), default=None)

    @property
    def flapping(self) -> Flaps | None:
        """What has happened since it was told as flapping; None when it is not."""
        return self.flaps if self.flaps is not None and self.flaps.since is not None else None

    @property
    def is_over_for_now(self) -> bool:
        """Whether it flaps, and is well: nobody was told of the end yet."""
        flaps = self.flapping
        return flaps is not None and flaps.end is not None and flaps.latest is None

    @property
    def open_now(self) -> Change | None:
        """The newest change of what is open, whatever channels were told of it; None: nothing is.

        While it flaps, that is not the incident that was told.
        """
        flaps = self.flapping
        if flaps is not None and flaps.latest is not None:
            return change_of(flaps.latest)
        return None if self.is_over_for_now else self.change

    @property
    def deliveries(self) -> list[Delivery]:
        """Pending deliveries."""
        return [t.delivery for t in self.tellings.values() if t.delivery is not None]

    def is_past(self, change: Change) -> bool:
        """Whether it is of an incident that was over before the open one began: late, or again."""
        if self.incident is None or self.change is None:
            return False
        is_other = change.incident_id != self.incident.incident_id
        return is_other and change.opened_at < self.change.opened_at

    def telling(self, delivery: Delivery) -> Telling | None:
        """The telling that a delivery belongs to, even if a newer delivery has replaced it."""
        return self.tellings.get(delivery.key)

    def holds(self, delivery: Delivery) -> bool:
        """Whether a delivery is still pending."""
        telling = self.telling(delivery)
        return telling is not None and delivery.is_same(telling.delivery)

    def of_incident(self) -> list[Telling]:
        """The tellings of the open incident."""
        incident = self.incident.incident_id if self.incident is not None else None
        return [t for t in self.tellings.values() if t.notified.incident_id == incident]

    def notified(self) -> dict[str, Notified]:
        """What channels know of the open incident."""
        return {telling.notified.channel: telling.notified for telling in self.of_incident()}

    def under_way(self) -> set[str]:
        """Channels with a pending delivery of the open incident."""
        return {t.notified.channel for t in self.of_incident() if t.delivery is not None}

    def delivery_of(self, change: Change, pending: PendingDelivery) -> Delivery:
        return Delivery(self.partition, self.subject, pending, change.event)

    def with_telling(self, telling: Telling) -> SubjectState:
        """With a telling instead of the one of the same incident and channel."""
        return self._with({**self.tellings, telling.key: telling})

    def _with(self, tellings: Mapping[Key, Telling]) -> SubjectState:
        return SubjectState(
            self.partition,
            self.subject,
            self.offset,
            self.incident,
            self.change,
            self.flaps,
            tellings,
        )

    def decided(
        self, change: Change, decision: Decision
    ) -> tuple[SubjectState, list[Key], list[Ended]]:
        """Takes a decision over: tellings that have work now, and deliveries that it ended."""
        ended: list[Ended] = []
        tellings = dict(self.tellings)
        incident, was = decision.incident, self.incident
        if incident and was and incident.incident_id != was.incident_id:  # its end was not seen
            for telling in self.of_incident():
                tellings[telling.key], gone = telling.replaced(None)
                ended += gone
        busy = []
        for news in decision.news:
            key = (news.notified.incident_id, news.notified.channel)
            known = tellings.get(key)
            known = (
                Telling(news.notified)
                if known is None
                else Telling(news.notified, known.delivery, known.in_flight)
            )
            new = None if news.delivery is None else self.delivery_of(change, news.delivery)
            tellings[key], gone = known.replaced(new)
            ended += gone
            if tellings[key].delivery is not None:
                busy.append(key)
        newest = change if incident is not None else None
        state = replace(self, incident=incident, change=newest, tellings=tellings)
        return state.without_done(), busy, ended

    def without_done(self) -> SubjectState:
        """Forgets what channels know of incidents that are over, where nothing is owed to them."""
        incident = self.incident.incident_id if self.incident is not None else None
        kept = {
            key: telling
            for key, telling in self.tellings.items()
            if key[0] == incident or telling.delivery or telling.in_flight
        }
        return self if len(kept) == len(self.tellings) else self._with(kept)

    def renamed(self, channel_of: Callable[[Notified], str | None]) -> SubjectState:
        """Follows channels that have other names now."""
        tellings = dict(self.tellings)
        for key, telling in self.tellings.items():
            name = channel_of(telling.notified)
            if name is None or name == telling.notified.channel or (key[0], name) in tellings:
                continue
            del tellings[key]
            renamed = telling.knowing(channel=name).pending(channel=name)
            tellings[renamed.key] = renamed
        return self if tellings == self.tellings else replace(self, tellings=tellings)

    def set_back(self, milliseconds: int) -> SubjectState:
        """The clock was: what is due stays as far away as it was."""
        tellings = {key: t.set_back(milliseconds) for key, t in self.tellings.items()}
        incident = self.incident
        if incident is not None:
            routes = {}
            for name, done in incident.routes.items():
                at = done.repeat_at
                moved = None if at is None else max(at - milliseconds, 0)
                routes[name] = done.model_copy(update={"repeat_at": moved})
            incident = incident.model_copy(update={"routes": routes})
        return replace(self, tellings=tellings, incident=incident)


def to_store(
    state: SubjectState, is_sent_at_once: Callable[[Delivery], bool] = lambda _: False
) -> NotifierState:
    """The contract's record of a state. `is_sent_at_once`: as soon as that is written."""
    events = {d.pending.event_id: d.event for d in state.deliveries if d.event is not None}
    if state.change is not None:
        events[state.change.event_id] = state.change.event
    return NotifierState(
        cluster=state.subject.cluster,
        group=state.subject.group,
        offset=state.offset,
        incident=state.incident,
        deliveries=[delivery.pending for delivery in state.deliveries],
        notified=[telling.to_store(is_sent_at_once) for telling in state.tellings.values()],
        flaps=state.flaps,
        events=events,
    )


def restored(partition: int, stored: NotifierState) -> tuple[SubjectState, list[Ended]]:
    """The state that was stored, and deliveries that end by that.

    Raises ContractViolation when its event is no event.
    """
    subject = Subject(stored.cluster, stored.group)
    change = None
    if stored.incident is not None:
        read = change_of(stored.events[stored.incident.event_id])
        change = as_known(read, stored.incident)
    state = SubjectState(
        partition, subject, stored.offset, stored.incident, change, flaps=stored.flaps
    )
    tellings, ended = dict[Key, Telling](), list[Ended]()
    for notified in stored.notified:
        if notified.replaced is not None:  # killed before its outcome was known
            lost = Delivery(partition, subject, notified.replaced, None)
            ended.append(Ended(lost, "superseded", REPLACED))
        telling = Telling(notified.model_copy(update={"replaced": None}))
        tellings[telling.key] = telling
    for pending in stored.deliveries:
        known = tellings.get((pending.incident_id, pending.channel))
        if known is None:
            raise ContractViolation("a delivery's channel is not among those told")
        delivery = Delivery(partition, subject, pending, stored.events[pending.event_id])
        tellings[known.key] = replace(known, delivery=delivery)
    return replace(state, tellings=tellings).without_done(), ended
