"""Reading of records' times: one FetchRequest for many partitions, straight from their leaders.

No consumer, no group, no commits: nothing of this shows on the monitored cluster.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from warren.clock import Clock
from warren.errors import ClusterUnreachable, KafkaError
from warren.kafka.trouble import Trouble
from warren.metrics.freshness import FRESHNESS_READ_BYTES, FRESHNESS_READS
from warren.settings import KafkaConnection
from warren_wire.brokers import Brokers
from warren_wire.list_offsets import FoundOffset
from warren_wire.metadata import NO_LEADER

from warren_freshness.log_position import LogPosition, Reading
from warren_freshness.reading.batch_sizes import BatchSizes, ByteBudget
from warren_freshness.reading.broker_fetches import BrokerFetches
from warren_freshness.reading.log_times import OffsetLookups, TopicPartition
from warren_freshness.reading.record_search import RecordSearch
from warren_freshness.topics.metadata import TopicMetadata


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
        return self._readings(searches)

    async def look_up(
        self, times: Mapping[TopicPartition, int], *, timeout: float
    ) -> dict[TopicPartition, FoundOffset]:
        """The first record of each partition that is that new, or what a constant of
        warren_wire.list_offsets asks for. DESCRIBE is enough; partitions without an answer are
        left out."""
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

    def _readings(self, searches: Iterable[RecordSearch]) -> dict[LogPosition, Reading]:
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
