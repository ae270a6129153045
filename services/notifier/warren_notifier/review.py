"""What is decided and not sent yet, looked at again: put off, let go, left to another route, or
withdrawn.
"""

from __future__ import annotations

from collections.abc import Collection

from warren.clock import Clock
from warren.contracts import Acknowledgement, OpenIncident

from warren_notifier.batch import Batch
from warren_notifier.delivery.outcome_recorder import OutcomeRecorder
from warren_notifier.routing.change import read_change
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.escalation import begun_anew
from warren_notifier.routing.tellers import Muted, contested
from warren_notifier.silences.holds import Holds
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import LOOKED_AFTER, NOT_LOOKED_AFTER, Telling


class Review:
    """By silences, mute windows and acknowledgements as they are now."""

    def __init__(
        self, router: Router, recorder: OutcomeRecorder, holds: Holds, clock: Clock
    ) -> None:
        self._router = router
        self._recorder = recorder
        self._holds = holds
        self._clock = clock
        self._contested = contested(router.routes)

    def acknowledgement(self, incident: OpenIncident) -> Acknowledgement | None:
        """Of the incident, or of the one that it goes on as."""
        found = self._holds.acknowledgement(incident.incident_id)
        if found is None and incident.goes_on_as is not None:
            found = self._holds.acknowledgement(incident.goes_on_as)
        return found

    def look(self, state: SubjectState, tellings: Collection[Telling], batch: Batch) -> None:
        """Holds what is silenced, lets go what is not, withdraws what nobody needs; what is being
        sent is left alone.
        """
        for telling in tellings:
            delivery = telling.delivery
            if delivery is None or telling.in_flight is delivery:
                continue
            needless = self._why_needless(state, delivery)
            if needless is not None:
                ended = telling.withdraw(needless)
                batch.records += [self._recorder.ended(one) for one in ended]
                batch.states[state.partition, state.subject] = state
                continue
            holds = batch.holds(self._holds, self._clock)
            if delivery.pending.channel in self._contested and holds.mutes(delivery.pending):
                self._leave_to_another_route(state, telling, delivery, batch, holds.muted_until)
            hold = holds.of(telling.subject, delivery.pending)
            if (hold is not None) == telling.is_held:
                continue
            if hold is not None:
                telling.hold(hold.name)
                batch.records.append(self._recorder.put_off(delivery, hold.detail))
            else:
                now = self._clock.now_ms()
                telling.release(now)
                batch.news.append((telling, delivery))
                if state.incident is not None and not telling.told.opened:
                    state.incident = begun_anew(state.incident, {delivery.pending.route}, now)
            batch.states[state.partition, state.subject] = state

    def _leave_to_another_route(
        self,
        state: SubjectState,
        telling: Telling,
        delivery: Delivery,
        batch: Batch,
        muted: Muted,
    ) -> None:
        """What a muted route has to tell is told by another one that names the channel, if that is
        not muted, or no longer so before.
        """
        is_newest = state.change is not None and state.change.event == delivery.event
        change = state.change if is_newest else read_change(delivery.event.encode())
        if change is None:
            return
        route = self._router.teller(change, state.incident, delivery.pending.channel, muted)
        if route is not None and route.name != delivery.pending.route:
            telling.leave_to(route.name, closes=route.send_resolved)
            batch.states[state.partition, state.subject] = state

    def _why_needless(self, state: SubjectState, delivery: Delivery) -> str | None:
        """Decided before somebody said that he looks after the incident, or that he does not."""
        pending, incident = delivery.pending, state.incident
        if incident is None or incident.incident_id != pending.incident_id:
            is_looked_after = self._holds.is_looked_after(pending.incident_id)
        else:
            is_looked_after = self.acknowledgement(incident) is not None
        if pending.kind == "acknowledged":
            return None if is_looked_after else NOT_LOOKED_AFTER
        reminds = pending.kind == "repeated" and pending.channel not in self._router.resends
        return LOOKED_AFTER if reminds and is_looked_after else None
