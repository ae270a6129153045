"""What is decided, made durable before any of it is sent, and then queued for its channels."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import structlog
from warren.kafka.batched_writer import Record

from warren_notifier.decide import decide
from warren_notifier.delivery.outcomes import Outcomes
from warren_notifier.delivery.worker import Worker
from warren_notifier.inputs import Attempted, Counted, Effect, EndLost, Input, PutOff, Tell
from warren_notifier.owned import Line, Owned
from warren_notifier.routing.holds import Rules
from warren_notifier.state.telling import Delivery, Ended

log = structlog.get_logger(__name__)

GONE = "the channel is no longer configured"


@dataclass(slots=True)
class Batch:
    """What some inputs lead to by the same rules, written together before any of it is sent."""

    outcomes: Outcomes
    rules: Rules
    records: list[Record] = field(default_factory=list)
    tell: list[Delivery] = field(default_factory=list)
    subjects: dict[Owned, None] = field(default_factory=dict)

    def decide(self, owned: Owned, given: Input) -> str:
        """Takes over what an input leads to, and gives how an event counts."""
        decided = decide(owned.state, given, self.rules, self.rules.at)
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
    """Batches: decided by rules, written, sent by `workers`."""

    def __init__(self, outcomes: Outcomes, workers: Mapping[str, Worker]) -> None:
        self.outcomes, self._owned = outcomes, outcomes.owned
        self.workers = workers
        self.on_change: Callable[[Owned], None] = self._owned.note
        """Hears of each subject that is about to be written."""

    def batch(self) -> Batch:
        return Batch(self.outcomes, self.outcomes.rules())

    async def write(self, batch: Batch) -> None:
        """Makes the batch durable, then queues its deliveries."""
        for owned in batch.subjects:
            self.on_change(owned)
        self._foresee(batch)
        states = [
            self.outcomes.records.state(owned, settled=self._owned.forget_settled(owned))
            for owned in batch.subjects
        ]
        await self.outcomes.writer.write([*batch.records, *states])
        for delivery in batch.tell:
            line = self._owned.holding(delivery)
            if line is not None:  # and there is no newer one, which is not written yet
                # Queues what a channel is to know; a channel that is gone ends it, which is said.
                worker = self._worker_of(line)
                if worker is None:
                    gone = Ended(line.delivery or delivery, "given_up", GONE)
                    await self.outcomes.record(Attempted(gone.delivery, gone.step))
                elif line.telling is not None and not line.telling.is_held:
                    line.note_written(delivery)
                    worker.add(line)

    async def forget(self, subjects: Iterable[Owned]) -> None:
        """Those that nothing is left of, in a record each."""
        settled = [one for one in subjects if self._owned.forget_settled(one)]
        await self.outcomes.writer.write(
            [self.outcomes.records.state(one, settled=True) for one in settled]
        )

    def _foresee(self, batch: Batch) -> None:
        """Which deliveries are sent as soon as they are written: what is written says so, which
        spares a record. Of the others nothing may arrive before another record says that it may.
        """
        before: Counter[Worker] = Counter()
        for delivery in batch.tell:
            line = self._owned.holding(delivery)
            worker = self._worker_of(line) if line is not None else None
            if line is None or worker is None:
                continue
            free = worker.is_free_for(line.owned.subject, before[worker])
            at_once = free and line.owned in batch.subjects and line.digest is None
            line.foresee(delivery, at_once=at_once)
            before[worker] += 1

    def _worker_of(self, line: Line) -> Worker | None:
        """None: the channel is gone."""
        telling = line.telling
        name = None if telling is None else self.outcomes.router.channel_of(telling.notified)
        return self.workers.get(name or "")
