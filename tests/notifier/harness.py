"""The service without Kafka: a writer in memory, a clock that jumps, channels that do as told."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from notifier.builders import OPENED_AT, Folded
from support.manual_clock import ManualClock
from support.waiting import until
from warren.contracts import (
    ChannelIdentity,
    DeadLetter,
    Event,
    GroupIncidentEvent,
    NotificationEvent,
    NotifierState,
    StatusChangeEvent,
    group_key,
)
from warren.kafka.batched_writer import BatchedWriter, Record
from warren.redaction import Redaction
from warren.settings.notifier import RouteSettings
from warren.silences import Silences
from warren_core.standing.standing import Standing
from warren_notifier.channels.channel import (
    Channel,
    Delivered,
    Result,
)
from warren_notifier.delivery.attempts import AsNow, RetryPlan, Shared
from warren_notifier.delivery.outcomes import Outcomes, Records
from warren_notifier.delivery.slots import RateLimit
from warren_notifier.delivery.worker import Worker
from warren_notifier.dispatcher import Dispatcher
from warren_notifier.due import Due
from warren_notifier.outbox import Outbox
from warren_notifier.owned import OwnedSubjects
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.holds import Holds
from warren_notifier.routing.routes import Grouping, Route
from warren_notifier.source.consumer import Backlog, PartitionStart, SourceRecord
from warren_notifier.state.telling import Delivery

END = 1_000_000  # of the partition's log: beyond every offset here


class Scripted(Channel):
    """A channel that answers with the given results, and with success when none is left."""

    timeout = 10.0

    def __init__(self, *results: Result, concurrency: int = 4) -> None:
        self.concurrency = concurrency
        self.identity = ChannelIdentity(kind="webhook", place="", digest=str(uuid4()))
        self.sent: list[Delivery] = []
        self.ids: list[str] = []
        self.taken: list[str] = []
        """Ids of what was answered with success."""
        self._results = list(results)

    async def send(self, delivery: Delivery) -> Result:
        self.sent.append(delivery)
        self.ids.append(delivery.pending.delivery_id)
        await asyncio.sleep(0)
        result = self._results.pop(0) if self._results else Delivered("taken")
        if isinstance(result, Delivered):
            self.taken.append(delivery.pending.delivery_id)
        return result


class Hanging(Scripted):
    """A channel whose attempts end when `let_go` is set."""

    def __init__(self, *results: Result, concurrency: int = 4) -> None:
        super().__init__(*results, concurrency=concurrency)
        self.let_go = asyncio.Event()

    async def send(self, delivery: Delivery) -> Result:
        result = await super().send(delivery)
        await self.let_go.wait()
        return result


class Log:
    """All that was written, in order; survives a "crash"."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.offset = 0
        """Of the next event."""
        self.folded = Folded()

    def topic(self, name: str) -> list[Record]:
        return [record for record in self.records if record.topic == f"t.{name}"]

    def states(self) -> list[NotifierState]:
        """What is left after compaction."""
        newest: dict[bytes, bytes | None] = {}
        for record in self.topic("notifier-state"):
            newest.pop(record.key or b"", None)
            newest[record.key or b""] = record.value
        return [NotifierState.from_bytes(value) for value in newest.values() if value is not None]

    def audit(self) -> list[NotificationEvent]:
        return [NotificationEvent.from_bytes(r.value) for r in self.topic("notifications")]

    def outcomes(self, channel: str = "") -> list[str]:
        return [a.outcome for a in self.audit() if channel in ("", a.channel)]

    def dead_letters(self) -> list[DeadLetter]:
        return [DeadLetter.from_bytes(r.value) for r in self.topic("dead-letters")]


class MemoryWriter(BatchedWriter):
    """Acknowledges at once; after `crash_after` records nothing is written or acknowledged."""

    def __init__(self, log: Log, crash_after: int | None = None) -> None:
        self._log = log
        self._left = crash_after
        self.open = asyncio.Event()
        """While it is not set, nothing is acknowledged."""
        self.open.set()
        self.closes_at = ""
        """A topic: from the next record for it on nothing is acknowledged."""

    async def write(self, records: Sequence[Record]) -> None:
        if not records:
            return
        for record in records:
            if self._left == 0:
                await asyncio.Event().wait()
            self._log.records.append(record)
            if self.closes_at and record.topic.endswith(self.closes_at):
                self.open.clear()
            self._left = None if self._left is None else self._left - 1
        await asyncio.sleep(0)
        await self.open.wait()

    async def drain(self) -> None:
        await self.open.wait()


class Harness:
    """One life of a notifier that serves partition 0."""

    def __init__(
        self,
        log: Log,
        tasks: asyncio.TaskGroup,
        routes: Sequence[Route],
        channels: Mapping[str, Channel],
        *,
        clock: ManualClock | None = None,
        crash_after: int | None = None,
        queue_size: int = 100,
        deadline_ms: int = 3_600_000,
        stopped: bool = False,
        flap_openings: int = 0,
        limits: Mapping[str, RateLimit] | None = None,
        redaction: Redaction | None = None,
        silences: Silences | None = None,
        resends: Mapping[str, int] | None = None,
        as_now: AsNow = Standing.of,
        known: asyncio.Event | None = None,
    ) -> None:
        self.log = log
        self._is_known = known
        self.clock = clock or ManualClock(OPENED_AT)
        self.owned = OwnedSubjects()
        self.writer = MemoryWriter(log, crash_after)
        digesting = {name for name, channel in channels.items() if channel.tells_many}
        grouping = Grouping(routes, digesting)
        router = Router(
            routes,
            deadline_ms,
            {name: channel.identity for name, channel in channels.items()},
            grouping,
            flap_openings,
            1_800_000,
            resends or {},
            {name for name, channel in channels.items() if channel.takes_acknowledgements},
        )
        self.outcomes = Outcomes(
            self.owned,
            Records("t."),
            self.writer,
            router,
            Holds(silences or Silences(), routes),
            redaction or Redaction(()),
            self.clock,
        )
        shared = Shared(
            tasks,
            RetryPlan(2, 60, lambda: 1.0),
            self.outcomes,
            self._sleep,
            queue_size,
            lambda: None,
            limits or {},
            as_now,
            self._known,
        )
        self.queues = {name: Worker(name, channel, shared) for name, channel in channels.items()}
        self._going = asyncio.Event()
        if not stopped:
            self.start()
        outbox = Outbox(self.outcomes, self.queues)
        self.due = Due(outbox)
        self.tick = self.due.tick
        self.dispatcher = Dispatcher(outbox)

    async def _known(self) -> None:
        if self._is_known is not None:
            await self._is_known.wait()

    @property
    def is_going(self) -> bool:
        return self._going.is_set()

    def start(self) -> None:
        """Lets the waits of a harness that was made `stopped` begin to end."""
        self._going.set()

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        await self._going.wait()
        self.clock.advance(seconds)

    async def assign(self, backlog: Backlog | None = None, committed: int = 0) -> None:
        start = PartitionStart(committed, END, backlog)
        await self.dispatcher.assign(0, self.log.states(), start)

    async def read(
        self, *events: Event | bytes | None, offset: int = 0, commit: bool = True
    ) -> int:
        """Events from `offset` on, of status changes the incidents that follow; the position that
        is committed, -1 for none.
        """
        found = [self.log.folded.of(e) if isinstance(e, StatusChangeEvent) else e for e in events]
        records = [
            SourceRecord(0, offset + i, _key(e), e.to_bytes() if isinstance(e, Event) else e)
            for i, e in enumerate(found)
            if e is not None or events[i] is None
        ]
        positions = await self.dispatcher.accept(records)
        if commit:
            self.dispatcher.committed(positions)
        return positions.get(0, -1)

    def pending(self) -> list[Delivery]:
        return [delivery for owned in self.owned.all() for delivery in owned.state.deliveries]

    async def idle(self) -> None:
        """Until nothing is pending any more but what is put off; forgets what is settled."""
        await until(lambda: all(worker.idle for worker in self.queues.values()))
        await self.due.forget_settled()


def _key(of: Event | bytes | None) -> bytes:
    if isinstance(of, GroupIncidentEvent):
        return group_key(of.data.cluster, of.data.group)
    return b"key"


Step = Event | bytes | float | Callable[["Harness"], object] | Sequence[Any]


def play(
    channels: Mapping[str, Channel],
    *steps: Step,
    routes: Sequence[Route] | None = None,
    log: Log | None = None,
    backlog: Backlog | None = None,
    read: int | None = None,
    **more: Any,
) -> Log:
    """One life, after that of `log`. Each step is over before the next one: an event is read and
    all that follows is delivered, so are several of a list; after so many seconds (a number) all
    that is due is done; what is called with the harness may be awaited. `read`: how much of the
    log was read and committed before; by default all.
    """
    log = log or Log()
    log.offset = log.offset if read is None else read
    routes = [Route(RouteSettings(name="all", channels=[*channels]))] if routes is None else routes
    clock = more.setdefault("clock", ManualClock(OPENED_AT))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, routes, channels, **more)
        await harness.assign(backlog, committed=log.offset)
        if not more.get("stopped"):
            await harness.idle()
        for step in steps:
            if isinstance(step, int | float):
                clock.advance(step)
                await harness.tick()
            elif callable(step):
                done = step(harness)
                if isinstance(done, Awaitable):
                    await done
                continue
            else:
                events = step if isinstance(step, list | tuple) else [step]
                await harness.read(*events, offset=log.offset)
                log.offset += len(events)
            if harness.is_going:
                await until(lambda: all(worker.idle for worker in harness.queues.values()))
        if harness.is_going:
            await harness.due.forget_settled()

    life(scenario)
    return log


def kinds(channel: Scripted) -> list[str]:
    """What it was told, in order."""
    return [one.pending.kind for one in channel.sent]


def life(scenario: Callable[[asyncio.TaskGroup], Awaitable[None]]) -> None:
    """Runs a scenario; ends as kill -9 does: whatever is still under way just stops."""

    async def run() -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                await scenario(tasks)
                raise Killed
        except* Killed:
            pass

    asyncio.run(run())


class Killed(Exception):
    """The end of a life."""
