"""What is decided, made durable before any of it is sent, and then queued for its channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

import structlog
from warren.kafka.batched_writer import BatchedWriter, Record

from warren_notifier.decide import decide
from warren_notifier.delivery.outcomes import Outcomes, Records
from warren_notifier.delivery.worker import Worker
from warren_notifier.inputs import Counted, Effect, EndLost, Input, PutOff, Tell
from warren_notifier.owned import Owned, OwnedSubjects
from warren_notifier.rules import Rulebook, Rules
from warren_notifier.state.telling import Delivery, Ended

log = structlog.get_logger(__name__)

GONE = "the channel is no longer configured"


@dataclass(slots=True)
class Batch:
    """What some inputs lead to by the same rules, written together before any of it is sent."""

    rules: Rules
    now: int
    outcomes: Outcomes
    records: list[Record] = field(default_factory=list)
    tell: list[Delivery] = field(default_factory=list)
    subjects: dict[Owned, None] = field(default_factory=dict)

    def decide(self, owned: Owned, given: Input) -> str:
        """Takes over what an input leads to, and gives how an event counts."""
        decided = decide(owned.state, given, self.rules, self.now)
        if decided.subject is not owned.state:
            owned.put(decided.subject)
            self.subjects[owned] = None
        for effect in decided.effects:
            self._take(owned, effect)
        return next((one.result for one in decided.effects if isinstance(one, Counted)), "")

    def _take(self, owned: Owned, effect: Effect) -> None:
        match effect:
            case Tell(delivery):
                self.tell.append(delivery)
            case Ended() | PutOff():
                self.subjects[owned] = None
                if (audit := self.outcomes.audit(owned, effect)) is not None:
                    self.records.append(audit)
            case EndLost():
                subject = owned.subject._asdict()
                log.warning("the end of an incident was never seen", **subject)


class Outbox:
    """Batches: decided by `rulebook`, written with `writer`, sent by `workers`."""

    def __init__(
        self,
        rulebook: Rulebook,
        owned: OwnedSubjects,
        records: Records,
        writer: BatchedWriter,
        outcomes: Outcomes,
        workers: Mapping[str, Worker],
    ) -> None:
        self.on_change: Callable[[Owned], None] = owned.note
        """Hears of each subject that is about to be written."""
        self._rulebook = rulebook
        self._router = rulebook.router
        self._owned = owned
        self._records = records
        self._writer = writer
        self._outcomes = outcomes
        self._workers = workers

    @property
    def people(self) -> Collection[str]:
        """Channels that are told of a group as a whole."""
        return self._router.people

    def batch(self) -> Batch:
        return Batch(self._rulebook.now(), self._rulebook.clock.now_ms(), self._outcomes)

    async def write(self, batch: Batch) -> None:
        """Makes the batch durable, then queues its deliveries."""
        for owned in batch.subjects:
            self.on_change(owned)
        self._foresee(batch)
        states = [
            self._records.state(owned, settled=self._owned.forget_settled(owned))
            for owned in batch.subjects
        ]
        await self._writer.write([*batch.records, *states])
        for delivery in batch.tell:
            owner = self._owned.holding(delivery)
            if owner is not None:  # and there is no newer one, which is not written yet
                await self._queue(owner, delivery)

    async def forget(self, subjects: Iterable[Owned]) -> None:
        """Those that nothing is left of, in a record each."""
        settled = [one for one in subjects if self._owned.forget_settled(one)]
        await self._writer.write([self._records.state(one, settled=True) for one in settled])

    def _foresee(self, batch: Batch) -> None:
        """Which deliveries are sent as soon as they are written: what is written says so, which
        spares a record. Of the others nothing may arrive before another record says that it may.
        """
        before: Counter[str] = Counter()
        for delivery in batch.tell:
            owned = self._owned.holding(delivery)
            telling = owned.state.telling(delivery) if owned is not None else None
            if owned is None or telling is None:
                continue
            channel = self._router.channel_of(telling.told)
            worker = self._workers.get(channel) if channel is not None else None
            if channel is None or worker is None:
                continue
            free = worker.is_free_for(owned.subject, before[channel])
            at_once = free and owned in batch.subjects and telling.told.digest is None
            owned.line(delivery).foresee(delivery, at_once=at_once)
            before[channel] += 1

    async def _queue(self, owned: Owned, delivery: Delivery) -> None:
        """Queues what a channel is to know; a channel that is gone ends it, which is said."""
        telling = owned.state.telling(delivery)
        if telling is None or telling.delivery is None:
            return
        channel = self._router.channel_of(telling.told)
        worker = self._workers.get(channel) if channel is not None else None
        if worker is None:
            await self._outcomes.without_attempt(Ended(telling.delivery, "given_up", GONE))
        elif not telling.is_held:
            line = owned.line(delivery)
            line.note_written(delivery)
            worker.add(line)
