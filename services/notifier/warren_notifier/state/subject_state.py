"""What is remembered about one subject: its open incident, and what channels know and are to know.

An incident's tellings outlive it where its end is still owed.
"""

from __future__ import annotations

from collections.abc import Callable

from warren.contracts import Flaps, NotifierState, OpenIncident, Told
from warren.errors import ContractViolation

from warren_notifier.routing.change import Change, Subject, as_known, read_change
from warren_notifier.routing.decisions import Decision
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.queued_deliveries import folded
from warren_notifier.state.telling import REPLACED, Ended, Telling


class SubjectState:
    """One subject's state. `offset`: the newest event that was taken in, -1 for none."""

    def __init__(self, partition: int, subject: Subject) -> None:
        self.partition = partition
        self.subject = subject
        self.offset = -1
        self.incident: OpenIncident | None = None
        self.change: Change | None = None
        """The open incident's newest change."""
        self.flaps: Flaps | None = None
        self.stored_bytes = 0
        """Of its newest record."""
        self.ended: list[Ended] = []
        """Deliveries that restoring the state has ended."""
        self._tellings: dict[tuple[str, str], Telling] = {}

    @classmethod
    def restored(cls, partition: int, stored: NotifierState) -> SubjectState:
        """The state that was stored; raises ContractViolation when its event is no event."""
        state = cls(partition, Subject(stored.cluster, stored.group, stored.event_type))
        state.offset = stored.offset
        state.incident = stored.incident
        state.flaps = stored.flaps
        state.stored_bytes = len(stored.to_bytes())
        if stored.incident is not None:
            change = read_change(stored.events[stored.incident.event_id].encode())
            if change is None:
                raise ContractViolation("an incident's event is of an unknown type")
            state.change = as_known(change, stored.incident)
        if stored.told is None:
            tellings, state.ended = folded(partition, state.subject, stored, state.change)
            for telling in tellings:
                state._put(telling)
            return state
        for told in stored.told:
            if told.replaced is not None:  # killed before its outcome was known
                lost = Delivery(partition, state.subject, told.replaced, "")
                state.ended.append(Ended(lost, "superseded", REPLACED))
            state._put(
                Telling(partition, state.subject, told.model_copy(update={"replaced": None}))
            )
        for pending in stored.deliveries:
            known = state._tellings.get((pending.incident_id, pending.channel))
            if known is None:
                raise ContractViolation("a delivery's channel is not among those told")
            event = stored.events[pending.event_id]
            known.delivery = Delivery(partition, state.subject, pending, event)
        state.forget_done()
        return state

    def _put(self, telling: Telling) -> None:
        self._tellings[telling.told.incident_id, telling.told.channel] = telling

    @property
    def empty(self) -> bool:
        """Whether there is nothing to remember but `offset`."""
        return self.incident is None and not self._tellings and self.flaps is None

    @property
    def repeat_at(self) -> int | None:
        """When a route may have to repeat the open incident."""
        routes = self.incident.routes.values() if self.incident is not None else ()
        return min((r.repeat_at for r in routes if r.repeat_at is not None), default=None)

    def set_back(self, milliseconds: int) -> None:
        """The clock was: what is due stays as far away as it was."""
        for telling in self._tellings.values():
            telling.set_back(milliseconds)
        if self.incident is None:
            return
        routes = {}
        for name, done in self.incident.routes.items():
            times = {"repeat_at": done.repeat_at, "bad_since": done.bad_since}
            moved = {k: max(at - milliseconds, 0) for k, at in times.items() if at is not None}
            routes[name] = done.model_copy(update=moved)
        self.incident = self.incident.model_copy(update={"routes": routes})

    @property
    def is_over_for_now(self) -> bool:
        """Whether it flaps, and is well: nobody was told of the end yet."""
        flaps = self.flapping
        return flaps is not None and flaps.end is not None and flaps.latest is None

    def is_past(self, change: Change) -> bool:
        """Whether it is of an incident that was over before the open one began: late, or again."""
        if self.incident is None or self.change is None:
            return False
        is_other = change.incident_id != self.incident.incident_id
        return is_other and change.opened_at < self.change.opened_at

    @property
    def flapping(self) -> Flaps | None:
        """What has happened since it was told as flapping; None when it is not."""
        return self.flaps if self.flaps is not None and self.flaps.since is not None else None

    @property
    def tellings(self) -> list[Telling]:
        """In the order in which channels were first told."""
        return list(self._tellings.values())

    @property
    def deliveries(self) -> list[Delivery]:
        """Pending deliveries."""
        return [t.delivery for t in self._tellings.values() if t.delivery is not None]

    def telling(self, delivery: Delivery) -> Telling | None:
        """The telling that a delivery belongs to, even if a newer delivery has replaced it."""
        return self._tellings.get((delivery.pending.incident_id, delivery.pending.channel))

    def holds(self, delivery: Delivery) -> bool:
        telling = self.telling(delivery)
        return telling is not None and telling.delivery is delivery

    def told(self) -> dict[str, Told]:
        """What channels know of the open incident."""
        return {telling.told.channel: telling.told for telling in self._of_incident()}

    def under_way(self) -> set[str]:
        """Channels with a pending delivery of the open incident."""
        return {t.told.channel for t in self._of_incident() if t.delivery is not None}

    def _of_incident(self) -> list[Telling]:
        incident = self.incident.incident_id if self.incident is not None else None
        return [t for t in self._tellings.values() if t.told.incident_id == incident]

    def decide(self, change: Change, decision: Decision) -> tuple[list[Telling], list[Ended]]:
        """Takes a decision over: tellings that have work now, and deliveries that it ended."""
        ended: list[Ended] = []
        incident, was = decision.incident, self.incident
        if incident and was and incident.incident_id != was.incident_id:  # its end was not seen
            ended += [one for t in self._of_incident() for one in t.replace(None, "")]
        self.incident, self.change = incident, change if incident is not None else None
        busy = []
        for news in decision.news:
            key = (news.told.incident_id, news.told.channel)
            if key not in self._tellings:
                self._put(Telling(self.partition, self.subject, news.told))
            telling = self._tellings[key]
            telling.told = news.told
            ended += telling.replace(news.delivery, change.event)
            if telling.delivery is not None:
                busy.append(telling)
        self.forget_done()
        return busy, ended

    def forget_done(self) -> None:
        """Forgets what channels know of incidents that are over, where nothing is owed to them."""
        incident = self.incident.incident_id if self.incident is not None else None
        for key, telling in list(self._tellings.items()):
            done = telling.delivery is None and telling.in_flight is None
            if done and telling.told.incident_id != incident:
                del self._tellings[key]

    def rename_channels(self, channel_of: Callable[[Told], str | None]) -> None:
        """Follows channels that have other names now."""
        for telling in self.tellings:
            told = telling.told
            name = channel_of(told)
            if name in (None, told.channel) or (told.incident_id, name) in self._tellings:
                continue
            del self._tellings[told.incident_id, told.channel]
            telling.told = told.model_copy(update={"channel": name})
            if telling.delivery is not None:
                pending = telling.delivery.pending
                telling.delivery.pending = pending.model_copy(update={"channel": name})
            self._put(telling)

    def to_store(self) -> NotifierState:
        """The state as `warren.notifier-state` has it."""
        events = {d.pending.event_id: d.event for d in self.deliveries}
        incident = self.incident
        if self.change is not None:
            events[self.change.event_id] = self.change.event
        if incident is not None:
            reached = [t.told.channel for t in self._of_incident() if t.told.status is not None]
            incident = incident.model_copy(update={"reached": reached})
        return NotifierState(
            cluster=self.subject.cluster,
            group=self.subject.group,
            event_type=self.subject.event_type,
            offset=self.offset,
            incident=incident,
            deliveries=[delivery.pending for delivery in self.deliveries],
            told=[telling.to_store() for telling in self._tellings.values()],
            flaps=self.flaps,
            events=events,
        )
