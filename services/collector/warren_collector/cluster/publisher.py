"""What the collector says on the bus: events and dead letters, acknowledged or repeated."""

from __future__ import annotations

from collections.abc import Iterable

from warren.clock import Clock
from warren.contracts import DeadLetter, OffsetEvent, group_key
from warren.contracts.topics import DEAD_LETTERS, GROUPS, MAX_MESSAGE_BYTES, OFFSETS
from warren.errors import RecordTooLarge
from warren.kafka.producer import Bus

from warren_collector.groups.recorded.records import Findings
from warren_collector.groups.reports import GroupReport
from warren_collector.records import Malformed
from warren_collector.sources.batch import Batch, Folded

SERVICE = "collector"
LEAST_BYTES = 128 * 1024  # of a dead letter's record; every topic takes as much


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
        self.published_bytes = 0
        """Of all values that were acknowledged."""

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

    def bury_findings(self, findings: Findings) -> None:
        """Likewise the records about groups that turned out to be malformed."""
        for rejected in findings.rejected:
            stored = rejected.stored
            if stored.counted and isinstance(rejected.problem, Malformed):
                self._bury(
                    stored.partition, stored.offset, stored.raw_key, stored.value, rejected.problem
                )

    def _bury(
        self, partition: int, offset: int, key: bytes | None, value: bytes | None, why: Malformed
    ) -> None:
        letter = DeadLetter.of(
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
        self._waiting.append(letter)

    def publish(self, events: Iterable[OffsetEvent], reports: Iterable[GroupReport] = ()) -> int:
        """Returns how many dead letters went with the events. Raises PublishFailed.

        Dead letters that their topic may not take, as it is configured, are shorter the next time.
        """
        try:
            return self._publish(events, reports)
        except RecordTooLarge:
            self._most_bytes = max(self._most_bytes // 2, LEAST_BYTES)
            self._waiting = [letter.cut_to(self._most_bytes) for letter in self._waiting]
            raise

    def _publish(self, events: Iterable[OffsetEvent], reports: Iterable[GroupReport]) -> int:
        size = 0
        for event in events:
            self._observed_at = max(self._observed_at, event.observed_at)
            value = event.to_bytes()
            size += len(value)
            self._bus.send(self._offsets, group_key(event.cluster, event.group), value)
        for report in reports:
            size += len(report.content or b"")
            self._bus.send(self._groups, report.key, report.content)
        for letter in self._waiting:
            value = letter.to_bytes()
            size += len(value)
            self._bus.send(self._dead_letters, letter.key, value)
        self._bus.flush()
        self.published_bytes += size
        buried = len(self._waiting)
        self._waiting.clear()
        return buried
