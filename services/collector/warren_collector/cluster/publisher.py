"""What the collector says on the bus: events and dead letters, acknowledged or repeated."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

import structlog
from warren.clock import Clock
from warren.contracts import (
    CLUSTERS,
    DEAD_LETTERS,
    EVERY_MS,
    GROUPS,
    MAX_MESSAGE_BYTES,
    OFFSETS,
    ClusterEvent,
    DeadLetter,
    OffsetEvent,
)
from warren.errors import PublishFailed, RecordTooLarge
from warren.kafka.connection import Trouble
from warren.kafka.producer import Bus
from warren.kafka.topics import HOME
from warren_wire.records import Malformed

from warren_collector.groups.recorded.records import Rejected
from warren_collector.groups.reports import GroupReport
from warren_collector.sources.source import Batch, Folded

log = structlog.get_logger(__name__)

LOOK_EVERY = 0.5  # seconds; also how late a change is published
Report = Callable[[], ClusterEvent]
SERVICE = "collector"
LEAST_BYTES = 128 * 1024  # of a dead letter's record; every topic takes as much


class ClusterReports:
    """Publishes what is new, and all of it every 10 s."""

    def __init__(self, reports: Sequence[Report], topic_prefix: str, clock: Clock) -> None:
        """`reports` give an event of one cluster each, as it stands at that moment."""
        self.trouble = Trouble(HOME, clock, over="states of clusters are published again")
        self._reports = reports
        self._topic = CLUSTERS.full_name(topic_prefix)
        self._published: dict[bytes, ClusterEvent] = {}

    def publish(self, bus: Bus) -> None:
        """What is due. What could not be published is due again; its trouble is told elsewhere."""
        due = {event.key: event for event in (report() for report in self._reports)}
        due = {key: event for key, event in due.items() if self._is_due(key, event)}
        if self._send(bus, {key: event.to_bytes() for key, event in due.items()}):
            self._published |= due

    def withdraw(self, bus: Bus) -> None:
        """This collector says nothing about the clusters any more."""
        self._send(bus, dict.fromkeys(self._published))

    def run(
        self, connect: Callable[[], Bus], has_home: Callable[[], bool], stop: threading.Event
    ) -> None:
        """Until `stop`; begins once `has_home` says that Warren's topics are there."""
        while not has_home():
            if stop.wait(LOOK_EVERY):
                return
        bus = connect()
        while not stop.wait(LOOK_EVERY):
            self.publish(bus)
        self.withdraw(bus)

    def _is_due(self, key: bytes, event: ClusterEvent) -> bool:
        last = self._published.get(key)
        if last is None or (last.state, last.problem) != (event.state, event.problem):
            return True
        return event.observed_at - last.observed_at >= EVERY_MS

    def _send(self, bus: Bus, records: Mapping[bytes, bytes | None]) -> bool:
        if not records:
            return True
        try:
            for key, value in records.items():
                bus.send(self._topic, key, value)
            bus.flush()
        except PublishFailed as error:
            if self.trouble.problem is None:
                log.warning("states of clusters are not published", problem=error.problem)
            self.trouble.note(error)
            return False
        self.trouble.over()
        return True


class Publisher:
    """Sends, then waits for all acknowledgements; what failed is sent again with the next tick."""

    def __init__(self, bus: Bus, topic_prefix: str, source_topic: str, clock: Clock) -> None:
        self._bus = bus
        self._offsets = OFFSETS.full_name(topic_prefix)
        self._groups = GROUPS.full_name(topic_prefix)
        self._dead_letters = DEAD_LETTERS.full_name(topic_prefix)
        self._source_topic = source_topic
        self._clock = clock
        self._waiting: list[DeadLetter] = []
        self._most_bytes = MAX_MESSAGE_BYTES
        self._observed_at = -1

    @property
    def waiting(self) -> int:
        """Dead letters that have not been published yet."""
        return len(self._waiting)

    def observe(self) -> int:
        """Now, Unix milliseconds: later than all that was published before, whatever the clock."""
        return max(self._clock.now_ms(), self._observed_at + 1)

    def bury(self, batch: Batch, folded: Folded) -> None:
        """Keeps the batch's malformed records for the next `publish`.

        Not those that only rebuild state: they were buried when they were new.
        """
        for index, malformed in folded.rejected:
            if batch.is_counted(index):
                self._bury(
                    int(batch.partitions[index]),
                    int(batch.offsets[index]),
                    batch.keys[index],
                    batch.values[index],
                    malformed,
                )

    def bury_rejected(self, found: list[Rejected]) -> None:
        """Likewise the records about groups that turned out to be malformed."""
        for rejected in found:
            stored = rejected.stored
            if stored.counted and isinstance(rejected.problem, Malformed):
                self._bury(
                    stored.partition, stored.offset, stored.raw_key, stored.value, rejected.problem
                )

    def _bury(
        self, partition: int, offset: int, key: bytes | None, value: bytes | None, why: Malformed
    ) -> None:
        self._waiting.append(
            DeadLetter.of(
                service=SERVICE,
                topic=self._source_topic,
                partition=partition,
                offset=offset,
                reason=f"{why.reason} (at byte {why.at})",
                failed_at=self._clock.now_ms(),
                key=key,
                value=value,
                most_bytes=self._most_bytes,
            )
        )

    def publish(self, events: Iterable[OffsetEvent], reports: Iterable[GroupReport] = ()) -> int:
        """Returns how many dead letters went with the events. Raises PublishFailed.

        Dead letters that their topic may not take, as it is configured, are shorter the next time.
        """
        try:
            for event in events:
                self._observed_at = max(self._observed_at, event.observed_at)
                self._bus.send(self._offsets, event.key, event.to_bytes())
            for report in reports:
                self._bus.send(self._groups, report.key, report.content)
            for letter in self._waiting:
                self._bus.send(self._dead_letters, letter.key, letter.to_bytes())
            self._bus.flush()
            buried = len(self._waiting)
            self._waiting.clear()
            return buried
        except RecordTooLarge:
            self._most_bytes = max(self._most_bytes // 2, LEAST_BYTES)
            self._waiting = [letter.cut_to(self._most_bytes) for letter in self._waiting]
            raise
