"""Reading of records' times: one FetchRequest for many partitions, straight from their leaders.

No consumer, no group, no commits: nothing of this shows on the monitored cluster.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from warren.clock import Clock
from warren.errors import ClusterUnreachable, KafkaError
from warren.kafka.connection import Trouble
from warren.metrics.freshness import FRESHNESS_READ_BYTES, FRESHNESS_READS
from warren.settings import KafkaConnection
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.metadata import NO_ERROR, NO_LEADER, TOO_OLD
from warren_wire.partition_requests import (
    NOT_FOUND,
    FoundOffset,
    ListOffsetsRequest,
    listed_offsets,
)

from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.reading.batch_sizes import BatchSizes, ByteBudget
from warren_freshness.reading.broker_fetches import BrokerFetches
from warren_freshness.reading.record_search import RecordSearch
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


class RecordReader:
    """Reads from one monitored cluster. For one event loop."""

    def __init__(
        self, cluster: str, setting: str, connection: KafkaConnection, clock: Clock
    ) -> None:
        """`setting` is the cluster's table. Raises SettingsError for what aiokafka cannot do."""
        self.cluster = self._cluster = cluster
        self.setting = self._setting = setting
        self.brokers = Brokers(cluster, setting, connection)
        self.metadata = TopicMetadata(self.brokers, cluster, setting, clock)
        self.sizes = BatchSizes()
        self._offsets = OffsetLookups(self.brokers, self.metadata)
        self._counted = 0
        self._trouble = Trouble(cluster, clock, over="measuring again")
        self._failed: KafkaError | None = None
        self._requested = self._answered = 0
        self._wanted: frozenset[str] = frozenset()
        self.obstacle: KafkaError | None = None
        """Why the last pass, as far as it is settled, could measure nothing."""

    async def prepare(self, topics: Iterable[str], *, timeout: float) -> None:
        """Begins a pass: learns who leads the topics' partitions; on trouble, what is known must
        do.
        """
        self._failed, self._requested, self._answered = None, 0, 0
        self._wanted = frozenset(topics)
        try:
            async with asyncio.timeout(timeout):
                await self.metadata.refresh(self._wanted)
        except KafkaError as error:
            self._failed = error
        except TimeoutError:
            self._failed = self._unreachable(f"no answer within {timeout:g}s")

    def settle(self) -> None:
        """Ends a pass: says what was wrong in it, and whether anything could be measured."""
        why = self._failed
        if why is None and self._requested and not self._answered:
            why = self._unreachable(
                f"none of {self._requested} questions to partitions is answered"
            )
        if why is not None:
            self._trouble.tell(why)
        else:
            self._trouble.over()
            why = self.metadata.refusal if self._wanted else None
        self.obstacle = None if self._answered else why

    async def read(
        self,
        wanted: Mapping[LogPosition, int],
        budget: ByteBudget,
        *,
        timeout: float,
        only_before: bool = False,
    ) -> dict[LogPosition, Reading]:
        """What there is at each position, those first that come first; `wanted` says from which
        offset on an earlier search goes on or, when that is not after the position, from which on
        there is a log.

        Takes `timeout` seconds and the budget at most: the rest is `unread`. With `only_before`,
        the record before each position is all that is wanted.
        """
        sizes = self.sizes
        searches = [
            RecordSearch.planned(
                place, start, sizes.worthwhile(place.topic), only_before=only_before
            )
            for place, start in wanted.items()
        ]
        try:
            async with asyncio.timeout(timeout):
                work = [broker.run() for broker in self._by_broker(searches, budget)]
                for failure in await asyncio.gather(*work, return_exceptions=True):
                    self._handle(failure)
        except TimeoutError:
            self.metadata.expire()
        self._count_bytes()
        readings: dict[LogPosition, Reading] = {}
        outcomes: Counter[str] = Counter()
        refused: set[str] = set()
        for search in searches:
            reading = readings[search.position] = search.finish()
            outcomes[reading.outcome] += 1
            self._answered += reading.outcome not in ("unread", "not_authorised")
            if reading.outcome == "not_authorised":
                refused.add(search.position.topic)
        self.metadata.refuse(refused)
        for outcome, count in outcomes.items():
            FRESHNESS_READS.labels(self._cluster, outcome).inc(count)
        return readings

    async def look_up(
        self, times: Mapping[TopicPartition, int], *, timeout: float
    ) -> dict[TopicPartition, FoundOffset]:
        """The first record of each partition that is that new, or what a constant of
        `partition_requests` asks for. DESCRIBE is enough; partitions without an answer are left
        out."""
        found: dict[TopicPartition, FoundOffset] = {}
        try:
            async with asyncio.timeout(timeout):
                self._requested += sum(1 for p in times if self.metadata.leader(*p) != NO_LEADER)
                for failure in await self._offsets.look_up(times, found):
                    self._handle(failure)
        except TimeoutError:
            self.metadata.expire()
        self._answered += len(found)
        self._count_bytes()
        return found

    async def close(self) -> None:
        await self.brokers.close()

    def _by_broker(
        self, searches: Iterable[RecordSearch], budget: ByteBudget
    ) -> list[BrokerFetches]:
        by_broker: dict[int, list[RecordSearch]] = defaultdict(list)
        for search in searches:
            topic, partition, _ = search.position
            leader = self.metadata.leader(topic, partition)
            if not self.metadata.is_authorised(topic):
                search.refuse()
            elif leader == NO_LEADER:
                self.metadata.expire()
            else:
                by_broker[leader].append(search)
        self._requested += sum(map(len, by_broker.values()))
        return [
            BrokerFetches(self.brokers, broker, self.metadata, its_searches, budget, self.sizes)
            for broker, its_searches in by_broker.items()
        ]

    def _count_bytes(self) -> None:
        """Answers that came after their pass are counted in the next one."""
        received = self.brokers.received_bytes
        FRESHNESS_READ_BYTES.labels(self._cluster).inc(received - self._counted)
        self._counted = received

    def _handle(self, failure: BaseException | None) -> None:
        """A broker that refuses the credentials leaves the others alone."""
        if isinstance(failure, KafkaError):
            self._failed = failure
        elif failure is not None:
            raise failure

    def _unreachable(self, problem: str) -> ClusterUnreachable:
        return ClusterUnreachable(self._cluster, f"{self._setting}.bootstrap", problem)
