"""From events to deliveries: the heart of the service, without a Kafka consumer.

What a change leads to is written as one record of the subject's state, with the change's offset,
before the source's position is committed and before anything is sent. After kill -9 a change is
therefore either not taken in, and is read again, or taken in, and then recognised as a replay.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Sequence

import structlog
from warren.clock import Clock
from warren.contracts import NotificationTest, NotifierState
from warren.errors import ContractViolation
from warren.kafka.batched_writer import BatchedWriter
from warren.metrics import notifier as metrics
from warren.words import visible

from warren_notifier.agenda import Agenda
from warren_notifier.batch import Batch
from warren_notifier.delivery.group_queues import GroupQueues
from warren_notifier.delivery.outcome_recorder import OutcomeRecorder
from warren_notifier.delivery.records import Records
from warren_notifier.outbox import Outbox
from warren_notifier.review import Review
from warren_notifier.rounds import Rounds
from warren_notifier.routing import trial
from warren_notifier.routing.change import Change, as_known, read_change
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.escalation import begun_anew
from warren_notifier.routing.flapping import Damping
from warren_notifier.routing.lost_end import lost_end
from warren_notifier.silences.holds import Holds
from warren_notifier.source.backlog import Backlog
from warren_notifier.source.partition_start import PartitionStart
from warren_notifier.source.record import SourceRecord
from warren_notifier.source.seen_events import SeenEvents
from warren_notifier.state.owned_state import OwnedState
from warren_notifier.state.subject_state import SubjectState

log = structlog.get_logger(__name__)


class Dispatcher:
    """Decides with `router`, remembers in `owned`, writes with `writer`, delivers in `queues`."""

    def __init__(
        self,
        router: Router,
        owned: OwnedState,
        records: Records,
        writer: BatchedWriter,
        recorder: OutcomeRecorder,
        queues: Mapping[str, GroupQueues],
        holds: Holds,
        clock: Clock,
    ) -> None:
        damping = Damping(router, router.flap_openings, router.flap_window_ms)
        review = Review(router, recorder, holds, clock)
        agenda = Agenda(owned, router, damping)
        outbox = Outbox(
            router, damping, review, agenda, owned, records, writer, recorder, queues, clock
        )
        self.rounds = Rounds(router, review, agenda, outbox, clock)
        self._router = router
        self._damping = damping
        self._review = review
        self._agenda = agenda
        self._outbox = outbox
        self._owned = owned
        self._records = records
        self._writer = writer
        self._recorder = recorder
        self._queues = queues
        self._clock = clock
        self._backlogs: dict[int, Backlog] = {}
        self._seen = SeenEvents()

    async def assign(
        self, partition: int, stored: Sequence[NotifierState], start: PartitionStart
    ) -> None:
        """Serves a partition from now on, and goes on with its pending deliveries."""
        states = self._owned.assign(partition, stored, start.end, start.committed)
        if start.backlog is not None:
            self._backlogs[partition] = start.backlog
        batch = Batch()
        for state in states:
            state.rename_channels(self._router.channel_of)
            self._agenda.note(state)
            batch.news += [(t, t.delivery) for t in state.tellings if t.delivery is not None]
            if state.ended:
                batch.states[partition, state.subject] = state
                batch.records += [self._recorder.ended(one) for one in state.ended]
            self._review.look(state, state.tellings, batch)
            self.rounds.tell_added(state, batch)
        await self._outbox.write(batch)

    async def revoke(self, partitions: Collection[int], grace: float) -> None:
        """Serves some partitions no longer; attempts under way have `grace` seconds to finish."""
        for queues in self._queues.values():
            await queues.revoke(partitions, grace)
        for partition in partitions:
            self._owned.revoke(partition)
            self._seen.forget(partition)
            self._backlogs.pop(partition, None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._writer.drain()  # the next owner reads what we wrote

    async def accept(self, records: Sequence[SourceRecord]) -> dict[int, int]:
        """Makes durable what follows from some records, and starts to deliver it.

        Returns the positions that may now be committed, by partition.
        """
        batch = Batch()
        positions: dict[int, int] = {}
        for record in records:
            backlog = self._backlogs.get(record.partition)
            change = self._read(record, batch)
            if backlog is not None:
                self._in_backlog(backlog, record, change, batch)
            elif change is not None:
                self._decide(record.partition, change, record.offset, batch)
            if record.partition not in self._backlogs:
                positions[record.partition] = record.offset + 1
        await self._outbox.write(batch)
        return positions

    async def pass_over(self, read_to: Mapping[int, int]) -> dict[int, int]:
        """Below these offsets, by partition, there is no record any more: a past that ends in
        something else has been read as well. Returns as `accept` does.
        """
        batch, positions = Batch(), dict[int, int]()
        for partition, offset in read_to.items():
            backlog = self._backlogs.get(partition)
            if backlog is not None and backlog.is_read_to(offset):
                self._end_backlog(partition, backlog, batch)
                positions[partition] = offset
        await self._outbox.write(batch)
        return positions

    def committed(self, positions: Mapping[int, int]) -> None:
        """Notes what is committed: events below these positions will not be read again."""
        for partition, position in positions.items():
            self._owned.committed(partition, position)

    async def test(self, partition: int, test: NotificationTest) -> None:
        """Tells a route's channels of an incident that there is not, if the partition is ours."""
        route = next((one for one in self._router.routes if one.name == test.route), None)
        if partition not in self._owned.partitions or route is None:
            return
        now, batch = self._clock.now_ms(), Batch()
        change = trial.opening(test, now)
        state = self._owned.state(partition, change.subject)
        if state.incident is not None:  # of a test that is not over
            return
        state.offset = max(state.offset, 0)
        decision = trial.router(self._router, route).on_change(change, 0, None, {}, now)
        self._outbox.note(state, change, decision, batch)
        await self._outbox.write(batch)

    def _read(self, record: SourceRecord, batch: Batch) -> Change | None:
        try:
            change = read_change(record.value)
        except ContractViolation as violation:
            metrics.NOTIFIER_EVENTS.labels("refused").inc()
            log.error(
                "event refused, dead-lettered",
                partition=record.partition,
                offset=record.offset,
                reason=visible(violation.reason),
            )
            batch.records.append(
                self._records.dead_letter(
                    record.partition,
                    record.offset,
                    record.key,
                    record.value,
                    visible(violation.reason),
                    self._clock.now_ms(),
                )
            )
            return None
        if change is None:
            metrics.NOTIFIER_EVENTS.labels("foreign").inc()
        return change

    def _in_backlog(
        self, backlog: Backlog, record: SourceRecord, change: Change | None, batch: Batch
    ) -> None:
        if change is not None and backlog.covers(record.offset):
            metrics.NOTIFIER_EVENTS.labels("history").inc()
            backlog.fold(change, record.offset)
        if not backlog.ends_with(record.offset):
            return
        self._end_backlog(record.partition, backlog, batch)
        if change is not None and not backlog.covers(record.offset):
            self._decide(record.partition, change, record.offset, batch)

    def _end_backlog(self, partition: int, backlog: Backlog, batch: Batch) -> None:
        del self._backlogs[partition]
        for lasting, offset in backlog.lasting():
            self._decide(partition, lasting, offset, batch)

    def _decide(self, partition: int, change: Change, offset: int, batch: Batch) -> None:
        state = self._owned.state(partition, change.subject)
        is_again = state.change is not None and change.event_id == state.change.event_id
        is_again |= self._seen.has(partition, change.event_id)
        known = as_known(change, state.incident)
        # Published twice, as after a kill, is no news.
        if offset <= state.offset or is_again or state.is_past(known):
            metrics.NOTIFIER_EVENTS.labels("replayed").inc()
            return
        self._seen.add(partition, change.event_id)
        state.offset = offset
        now = self._clock.now_ms()
        if state.flaps is not None:
            self._outbox.calm(state, change.at, batch)
        change = as_known(change, state.incident)
        self._end_lost(state, change, offset, batch)
        if state.incident is not None and state.is_over_for_now and not change.closing:
            # It is bad again, which escalation counts from now on.
            state.incident = begun_anew(state.incident, state.incident.routes, now)
        told, flaps = state.told(), state.flaps
        damped = self._damping.on_change(change, offset, state.incident, told, flaps, now)
        if damped.decisions:
            result = "routed" if damped.decisions[-1][1].deliveries else "unrouted"
        else:
            result = "withheld"
        metrics.NOTIFIER_EVENTS.labels(result).inc()
        self._outbox.take(state, damped, batch)

    def _end_lost(self, state: SubjectState, change: Change, offset: int, batch: Batch) -> None:
        """Ends the open incident if the change is of another one; while the group flaps, that is
        told when other ends are.
        """
        incident, flaps = state.incident, state.flapping
        if incident is None or state.change is None or change.closing:
            return
        if change.incident_id == incident.incident_id or (flaps and flaps.end is not None):
            return
        log.warning("the end of an incident was never seen", **change.subject._asdict())
        end = lost_end(state.change, change)
        if flaps is not None:
            state.flaps = flaps.model_copy(update={"end": end.event, "end_offset": offset})
            return
        now = self._clock.now_ms()
        decision = self._router.on_change(end, offset, incident, state.told(), now)
        self._outbox.note(state, end, decision, batch)
