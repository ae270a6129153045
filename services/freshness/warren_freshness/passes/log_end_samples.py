"""When the newest records of logs were appended: sampled, one look per partition and pass."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from warren_wire.partition_requests import EARLIEST, FoundOffset

from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.reading.record_reader import RecordReader, TopicPartition

_Partition = tuple[str, int]


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


class _Sample(NamedTuple):
    position: LogPosition
    time: int | None
    is_before: bool = True
    """The record is before the position, not only in the same log."""


class LogEndSamples:
    """Append times of the records before log ends. At most `samples` are due in one pass."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._taken: dict[_Partition, _Sample] = {}

    def due(self, states: Iterable[PartitionState]) -> dict[LogPosition, PartitionState]:
        """Log ends that have moved since they were sampled, and those that gave nothing then;
        longest not sampled first."""
        wanted: dict[_Partition, PartitionState] = {}
        for state in states:
            if state.has_committed and state.log_end > max(state.log_start, 0):
                wanted[state.committed.topic, state.committed.partition] = state
        self._taken = {p: sample for p, sample in self._taken.items() if p in wanted}
        moved = [p for p in wanted if p not in self._taken]
        moved += [
            p
            for p, known in self._taken.items()
            if (known.time is None or known.position != wanted[p].log_end_position)
        ]
        chosen = [wanted[partition] for partition in moved[: self._samples]]
        return {state.log_end_position: state for state in chosen}

    def take(self, readings: Mapping[LogPosition, Reading]) -> None:
        """What reading the due ones gave."""
        for position, reading in readings.items():
            self._take(_Sample(position, reading.before))

    def take_largest(
        self, positions: Iterable[LogPosition], found: Mapping[_Partition, FoundOffset]
    ) -> None:
        """The largest timestamps of the due ones' logs, as far as brokers told."""
        for position in positions:
            largest = found.get((position.topic, position.partition))
            if largest is None or largest.timestamp < 0:
                self._take(_Sample(position, None))
            else:
                self._take(_Sample(position, largest.timestamp, largest.offset < position.offset))

    def newest(self) -> dict[LogPosition, int]:
        """Append time of the record before each sampled log end, Unix ms as in the log."""
        return self._times(is_before=True)

    def largest(self) -> dict[LogPosition, int]:
        """Where the log has grown since: the largest timestamp after that end."""
        return self._times(is_before=False)

    def _take(self, sample: _Sample) -> None:
        partition = (sample.position.topic, sample.position.partition)
        self._taken.pop(partition, None)  # the newest sample goes to the end
        self._taken[partition] = sample

    def _times(self, *, is_before: bool) -> dict[LogPosition, int]:
        return {
            sample.position: sample.time
            for sample in self._taken.values()
            if sample.time is not None and sample.is_before == is_before
        }
