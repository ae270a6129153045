"""When the newest records of logs were appended: sampled, one look per partition and pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from warren_wire.list_offsets import FoundOffset

from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.positions.partition_state import PartitionState

_Partition = tuple[str, int]


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
        moved += [p for p, known in self._taken.items() if _is_due(known, wanted[p])]
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
                is_before = largest.offset < position.offset
                self._take(_Sample(position, largest.timestamp, is_before))

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


def _is_due(known: _Sample, state: PartitionState) -> bool:
    return known.time is None or known.position != state.log_end_position
