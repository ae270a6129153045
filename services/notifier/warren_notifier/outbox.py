"""What is decided, made durable before any of it is sent, and then queued for its channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from warren.clock import Clock
from warren.kafka.batched_writer import BatchedWriter

from warren_notifier.agenda import Agenda
from warren_notifier.batch import Batch
from warren_notifier.delivery.group_queues import GroupQueues
from warren_notifier.delivery.outcome_recorder import OutcomeRecorder
from warren_notifier.delivery.records import Records
from warren_notifier.delivery.retry_plan import without_attempt
from warren_notifier.review import Review
from warren_notifier.routing.change import Change
from warren_notifier.routing.decisions import Decision, Router
from warren_notifier.routing.flapping import Damped, Damping
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.owned_state import OwnedState
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import FLAPS, Ended, Telling


class Outbox:
    """Batches of it: remembered in `owned`, written with `writer`, delivered in `queues`."""

    def __init__(
        self,
        router: Router,
        damping: Damping,
        review: Review,
        agenda: Agenda,
        owned: OwnedState,
        records: Records,
        writer: BatchedWriter,
        recorder: OutcomeRecorder,
        queues: Mapping[str, GroupQueues],
        clock: Clock,
    ) -> None:
        self._router = router
        self._damping = damping
        self._review = review
        self._agenda = agenda
        self._owned = owned
        self._records = records
        self._writer = writer
        self._recorder = recorder
        self._queues = queues
        self._clock = clock

    def note(self, state: SubjectState, change: Change, decision: Decision, batch: Batch) -> None:
        """What one change of a subject leads to."""
        busy, ended = state.decide(change, decision)
        batch.states[state.partition, state.subject] = state
        batch.records += [self._recorder.ended(one) for one in ended]
        self._review.look(state, busy, batch)
        batch.news += [(t, t.delivery) for t in busy if t.delivery is not None]

    def take(self, state: SubjectState, damped: Damped, batch: Batch) -> None:
        """What is left of it where subjects that flap are told of once."""
        state.flaps = damped.flaps
        batch.states[state.partition, state.subject] = state
        for change, pending in damped.withheld:
            delivery = Delivery(state.partition, state.subject, pending, change.event)
            batch.records.append(self._recorder.ended(Ended(delivery, "superseded", FLAPS)))
        for change, decision in damped.decisions:
            self.note(state, change, decision, batch)

    def calm(self, state: SubjectState, at: int, batch: Batch) -> None:
        """Tells what was withheld, if it has been quiet until `at`; forgets old incidents."""
        flaps = state.flaps
        if flaps is None or not self._damping.is_over(flaps, at):
            return
        if flaps.since is None:
            state.flaps = None
            return
        now = self._clock.now_ms()
        self.take(state, self._damping.calm(state.incident, state.told(), flaps, now), batch)

    async def write(self, batch: Batch) -> None:
        """Makes the batch durable, then queues its deliveries."""
        for state in batch.states.values():
            self._agenda.note(state)
        self._foresee(batch)
        states = [
            self._records.state(state, settled=self._owned.forget_settled(state))
            for state in batch.states.values()
        ]
        await self._writer.write([*batch.records, *states])
        for telling, delivery in batch.news:
            if self._owned.holds(delivery):  # and no newer one, which is not written yet
                await self._admit(telling, delivery)

    async def forget_settled(self) -> None:
        """States that nothing is left of, in a record each."""
        settled = [one for one in self._owned.settling() if self._owned.forget_settled(one)]
        await self._writer.write([self._records.state(state, settled=True) for state in settled])

    def _foresee(self, batch: Batch) -> None:
        """Which deliveries are sent as soon as they are written: what is written says so, which
        spares a record. Of the others nothing may arrive before another record says that it may.
        """
        before: Counter[str | None] = Counter()
        for telling, _ in batch.news:
            channel = self._router.channel_of(telling.told)
            queues = self._queues.get(channel) if channel is not None else None
            telling.at_once = (
                queues is not None
                and (telling.partition, telling.subject) in batch.states
                and queues.is_free_for(telling.subject, before[channel])
            )
            before[channel] += 1

    async def _admit(self, telling: Telling, delivery: Delivery) -> None:
        """Queues what a channel is to know; a channel that is gone ends it, which is said."""
        channel = self._router.channel_of(telling.told)
        queues = self._queues.get(channel) if channel is not None else None
        if queues is not None:
            if not telling.is_held:
                telling.durable.set()
                queues.add(telling)
            return
        why = "the channel is no longer configured"
        await self._recorder.record(delivery, without_attempt(delivery.pending, "given_up", why))
