"""What is at positions by earlier passes, so that each position is read once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from warren.clock import Clock

from warren_freshness.log_position import UNKNOWN, LogPosition, Reading
from warren_freshness.positions.topic_columns import PartitionState
from warren_freshness.reading.record_reader import LogTimes, RecordReader, TopicPartition
from warren_freshness.record_times.cache import TimeCache


class KnownTimes:
    """A record's times hold for good: they are cached, and other instances have them too, unless
    its transaction may yet be aborted. That there was no record holds until the log grows, and how
    far a search came until the next pass."""

    def __init__(self, cache: TimeCache) -> None:
        self._cache = cache
        self._without_record: dict[LogPosition, Reading] = {}
        self._resume_at: dict[LogPosition, int] = {}

    async def recall(
        self, wanted: Mapping[LogPosition, PartitionState], topic_ids: Mapping[str, str]
    ) -> dict[LogPosition, Reading]:
        """Those of the wanted that are known: `record`, or `none` where nothing was appended."""
        # Nothing was appended to the log since it was read up to its end.
        self._without_record = {
            position: reading
            for position, reading in self._without_record.items()
            if position in wanted and (UNKNOWN != wanted[position].log_end <= reading.end)
        }
        others = [position for position in wanted if position not in self._without_record]
        known = await self.recall_records(others, topic_ids)
        known.update(self._without_record)
        return known

    def fetch_offset(self, position: LogPosition, log_start: int) -> int:
        """Where to read from: a search that was not finished in the last pass goes on. When that
        is not after the position, where the log begins."""
        return self._resume_at.get(position, max(log_start, 0))

    async def recall_records(
        self, positions: Iterable[LogPosition], topic_ids: Mapping[str, str]
    ) -> dict[LogPosition, Reading]:
        """Those at which a record is known to be."""
        return await self._cache.get_many(positions, topic_ids)

    async def keep(
        self, readings: Mapping[LogPosition, Reading], topic_ids: Mapping[str, str]
    ) -> None:
        """What a pass has read at positions that were not known. Where the log turned out to begin
        later, that is what is known of its first offset."""
        records: dict[LogPosition, Reading] = {}
        self._resume_at = {}
        for position, reading in readings.items():
            if reading.outcome == "record" and reading.stable_end == UNKNOWN:
                # What stays so for good of a record.
                records[_where_it_is(position, reading)] = (
                    reading if reading.log_start == UNKNOWN else reading._replace(log_start=UNKNOWN)
                )
            elif reading.outcome == "none":
                self._without_record[_where_it_is(position, reading)] = reading
            elif reading.resume_at != UNKNOWN:
                self._resume_at[position] = reading.resume_at
        await self._cache.put_many(records, topic_ids)

    async def flush(self) -> None:
        """Waits until the others have what was kept last."""
        await self._cache.flush()


def _where_it_is(position: LogPosition, reading: Reading) -> LogPosition:
    is_deleted = position.offset < reading.log_start
    return position._replace(offset=reading.log_start) if is_deleted else position


# How old records are that are not read: brackets, found by asking brokers for offsets by time.


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
            first[topic, partition] = min(first.get((topic, partition), offset), offset)
        self._logs = defaultdict(
            LogTimes, {key: log for key, log in self._logs.items() if key[0] in first}
        )
        for partition_, offset in first.items():
            self._log(partition_).forget_before(offset)

    def _log(self, partition: TopicPartition) -> LogTimes:
        """By topic id too: a topic that is created anew has other records at its offsets."""
        return self._logs[partition, self._reader.metadata.topic_id(partition[0])]
