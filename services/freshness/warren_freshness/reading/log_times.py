"""What brokers tell of a log's records by time, and what follows from it for an offset: pure."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.list_offsets import NOT_FOUND, FoundOffset, ListOffsetsRequest, listed_offsets
from warren_wire.metadata import NO_ERROR, NO_LEADER, TOO_OLD

from warren_freshness.topics.metadata import TopicMetadata

MOST_PARTITIONS = 1000  # of one request
TopicPartition = tuple[str, int]
MOST_ANSWERS = 64
# A bracket that is so narrow is good enough: a second, or a hundredth of the record's age.
NARROW_MS = 1000
NARROW_SHARE = 0.01


class OffsetLookups:
    """ListOffsets requests to one monitored cluster."""

    def __init__(self, brokers: Brokers, metadata: TopicMetadata) -> None:
        self._brokers = brokers
        self._metadata = metadata

    async def look_up(
        self, times: Mapping[TopicPartition, int], found: dict[TopicPartition, FoundOffset]
    ) -> Sequence[BaseException | None]:
        """Adds to `found` what brokers answer, as it comes. Returns how their requests failed."""
        by_broker: dict[int, list[TopicPartition]] = defaultdict(list)
        for partition in times:
            leader = self._metadata.leader(*partition)
            if leader != NO_LEADER:
                by_broker[leader].append(partition)
        work = [
            self._ask(broker, {p: times[p] for p in partitions}, found)
            for broker, partitions in by_broker.items()
        ]
        return await asyncio.gather(*work, return_exceptions=True)

    async def _ask(
        self,
        broker: int,
        times: Mapping[TopicPartition, int],
        found: dict[TopicPartition, FoundOffset],
    ) -> None:
        partitions = list(times)
        try:
            for start in range(0, len(partitions), MOST_PARTITIONS):
                chunk = {p: times[p] for p in partitions[start : start + MOST_PARTITIONS]}
                answer = await self._brokers.send(broker, ListOffsetsRequest.by_partition(chunk))
                for partition, error, offset in listed_offsets(answer):
                    if error == NO_ERROR:
                        found[partition] = offset
        except TOO_OLD:
            pass  # it is an old one, and what it would answer means something else
        except UNANSWERED:
            self._metadata.expire()


class Bracket(NamedTuple):
    """A record's append time is between these, Unix ms."""

    earliest: int
    latest: int

    @property
    def width(self) -> int:
        return self.latest - self.earliest


class _Answer(NamedTuple):
    """The first record that is as new as `time`; none where `found` is not."""

    time: int
    found: FoundOffset

    def is_after(self, offset: int) -> bool:
        return self.found.offset == NOT_FOUND or self.found.offset > offset


class LogTimes:
    """Of one log, whose records are taken to be in the order of their times."""

    def __init__(self) -> None:
        self._answers: list[_Answer] = []

    def take(self, time: int, found: FoundOffset) -> None:
        """The broker's answer to the question for the first record that is as new as `time`."""
        self._answers.append(_Answer(time, found))

    def forget_before(self, offset: int) -> None:
        """Nobody will ask for what is before it; and of many answers the last ones are enough."""
        below = [answer for answer in self._answers if not answer.is_after(offset)]
        newest = max(below, key=lambda answer: answer.found.offset, default=None)
        above = [answer for answer in self._answers if answer.is_after(offset)]
        self._answers = ([newest] if newest else []) + above[-MOST_ANSWERS:]

    def bracket(self, offset: int, now: int) -> Bracket | None:
        """Of the first record at or after the offset; None while nothing is known. That record is
        no older than one that was found before it, and no newer than one found after it."""
        if not self._answers:
            return None
        latest = min((a.found.timestamp for a in self._found_after(offset)), default=now)
        earliest = max((a.found.timestamp for a in self._before(offset)), default=latest)
        return Bracket(min(earliest, latest), latest)

    def next_time(self, offset: int, log_end: int, now: int, turn: int) -> int | None:
        """What to ask next; None when the bracket is narrow, or cannot become narrower.

        In even turns the time is where the record would be if they came evenly, in odd ones half
        way, which finds it wherever it is.
        """
        bracket = self.bracket(offset, now)
        if bracket is None:
            return 0
        if bracket.width <= max(NARROW_MS, NARROW_SHARE * (now - bracket.latest)):
            return None
        low = max(self._before(offset), key=lambda a: a.found.offset, default=None)
        if low is None:
            return None  # the record is before the first one: there is none
        floor = bracket.earliest
        ceiling = min((a.time for a in self._answers if a.is_after(offset)), default=now + 1)
        if ceiling - floor <= 1:
            return None
        share = 0.5
        if turn % 2 == 0:
            after = min((a.found.offset for a in self._found_after(offset)), default=log_end)
            share = (offset - low.found.offset - 0.5) / max(after - low.found.offset, 1)
        return min(max(floor + round((ceiling - floor) * share), floor + 1), ceiling - 1)

    def _before(self, offset: int) -> Iterator[_Answer]:
        return (answer for answer in self._answers if not answer.is_after(offset))

    def _found_after(self, offset: int) -> Iterator[_Answer]:
        """The record at the offset itself bounds its own time from both sides."""
        return (
            answer
            for answer in self._answers
            if answer.found.offset != NOT_FOUND and answer.found.offset >= offset
        )
