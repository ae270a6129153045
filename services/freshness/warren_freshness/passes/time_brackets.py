"""How old records are that are not read: brackets, found by asking brokers for offsets by time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from warren.clock import Clock

from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.positions.partition_state import PartitionState
from warren_freshness.reading.log_times import LogTimes, TopicPartition
from warren_freshness.reading.record_reader import RecordReader

# Questions to one log in a pass; the next pass goes on where this one ends.
MOST_TURNS = 24


class TimeBrackets:
    """Of one cluster. What brokers have answered narrows the brackets of later positions too."""

    def __init__(self, reader: RecordReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock
        self._logs: dict[tuple[TopicPartition, str], LogTimes] = {}

    async def read(
        self, wanted: Mapping[LogPosition, PartitionState], left: Callable[[], float]
    ) -> dict[LogPosition, Reading]:
        """By position, where brokers answer. `left`: seconds of the pass."""
        self._keep(wanted)
        unanswered: set[TopicPartition] = set()
        for turn in range(MOST_TURNS):
            times = self._questions(wanted, unanswered, turn)
            if not times or left() <= 0:
                break
            found = await self._reader.look_up(times, timeout=left())
            for partition, time in times.items():
                if partition in found:
                    self._log(partition).take(time, found[partition])
                else:
                    unanswered.add(partition)
        return {place: reading for place in wanted if (reading := self._reading(place))}

    def _questions(
        self,
        wanted: Mapping[LogPosition, PartitionState],
        unanswered: set[TopicPartition],
        turn: int,
    ) -> dict[TopicPartition, int]:
        """One for each log with a bracket that is too wide."""
        now = self._clock.now_ms()
        times: dict[TopicPartition, int] = {}
        for place, state in wanted.items():
            partition = (place.topic, place.partition)
            if partition in times or partition in unanswered:
                continue
            time = self._log(partition).next_time(place.offset, state.log_end, now, turn)
            if time is not None:
                times[partition] = time
        return times

    def _reading(self, place: LogPosition) -> Reading | None:
        log = self._log((place.topic, place.partition))
        bracket = log.bracket(place.offset, self._clock.now_ms())
        if bracket is None:
            return None
        return Reading("estimated", first=bracket.earliest, latest=bracket.latest)

    def _keep(self, places: Iterable[LogPosition]) -> None:
        """What is known of logs that are still asked about, from the first position on."""
        first: dict[TopicPartition, int] = {}
        for topic, partition, offset in places:
            known = first.get((topic, partition), offset)
            first[topic, partition] = min(known, offset)
        self._logs = defaultdict(
            LogTimes, {key: log for key, log in self._logs.items() if key[0] in first}
        )
        for partition_, offset in first.items():
            self._log(partition_).forget_before(offset)

    def _log(self, partition: TopicPartition) -> LogTimes:
        """By topic id too: a topic that is created anew has other records at its offsets."""
        key = (partition, self._reader.metadata.topic_id(partition[0]))
        return self._logs[key]
