"""Where logs begin by now: events know it half a minute late, and what was read may be deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warren_wire.list_offsets import EARLIEST

from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.positions.partition_state import PartitionState
from warren_freshness.reading.offset_lookups import TopicPartition
from warren_freshness.reading.record_reader import RecordReader


class LogStarts:
    """Of one cluster, as far as they are after what the events say: asked for where records may
    be deleted, and learnt from reads that found a position deleted."""

    def __init__(self, reader: RecordReader) -> None:
        self._reader = reader
        self._starts: dict[TopicPartition, int] = {}
        self._topic_ids: Mapping[str, str] = {}

    def begin(
        self, wanted: Mapping[LogPosition, PartitionState], topic_ids: Mapping[str, str]
    ) -> None:
        """A new pass: forgets what the events know as well, and all of topics that were created
        anew."""
        before, self._topic_ids = self._topic_ids, topic_ids
        states = {(p.topic, p.partition): state for p, state in wanted.items()}
        self._starts = {
            partition: start
            for partition, start in self._starts.items()
            if (state := states.get(partition))
            and state.log_start < start <= state.log_end
            and before.get(partition[0]) == topic_ids.get(partition[0])
        }

    def place(self, position: LogPosition) -> LogPosition:
        """Where the record is by now that a position in a deleted part of the log stands for."""
        start = self._starts.get((position.topic, position.partition), UNKNOWN)
        return position if start <= position.offset else position._replace(offset=start)

    def moved(self, positions: Iterable[LogPosition]) -> dict[LogPosition, LogPosition]:
        """The same, of those in a deleted part."""
        if not self._starts:  # as nearly always
            return {}
        return {p: place for p in positions if (place := self.place(p)) != p}

    async def ask(self, positions: Iterable[LogPosition], *, timeout: float) -> None:
        """Asks the leaders of these."""
        partitions = {(position.topic, position.partition) for position in positions}
        if not partitions:
            return
        found = await self._reader.look_up(dict.fromkeys(partitions, EARLIEST), timeout=timeout)
        for partition, start in found.items():
            self._learn(partition, start.offset)

    def learn(self, readings: Mapping[LogPosition, Reading]) -> None:
        """From what was read: positions that are deleted."""
        for position, reading in readings.items():
            self._learn((position.topic, position.partition), reading.log_start)

    def _learn(self, partition: TopicPartition, start: int) -> None:
        if start > self._starts.get(partition, 0):
            self._starts[partition] = start
