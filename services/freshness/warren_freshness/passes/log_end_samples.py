"""When the newest records of logs were appended: sampled, one read per partition and pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.positions.partition_state import PartitionState

_Partition = tuple[str, int]


class LogEndSamples:
    """Append times of the records before log ends. At most `samples` are due in one pass."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._times: dict[_Partition, tuple[LogPosition, int]] = {}

    def due(self, states: Iterable[PartitionState]) -> dict[LogPosition, PartitionState]:
        """Log ends that have moved since they were sampled; longest not sampled first."""
        wanted: dict[_Partition, PartitionState] = {}
        for state in states:
            if state.has_committed and state.log_end > max(state.log_start, 0):
                wanted[state.committed.topic, state.committed.partition] = state
        self._times = {p: known for p, known in self._times.items() if p in wanted}
        moved = [p for p in wanted if p not in self._times]
        moved += [p for p, known in self._times.items() if known[0] != wanted[p].log_end_position]
        chosen = [wanted[partition] for partition in moved[: self._samples]]
        return {state.log_end_position: state for state in chosen}

    def take(self, readings: Mapping[LogPosition, Reading]) -> None:
        """What reading the due ones gave."""
        for position, reading in readings.items():
            partition = (position.topic, position.partition)
            self._times.pop(partition, None)  # the newest sample goes to the end
            if reading.before is not None:
                self._times[partition] = (position, reading.before)

    def times(self) -> dict[LogPosition, int]:
        """Append time of the record before each sampled log end, Unix ms as in the log."""
        return dict(self._times.values())
