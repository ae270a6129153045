"""Reading of records' times: one FetchRequest for many partitions, straight from their leaders.

No consumer, no group, no commits: nothing of this shows on the monitored cluster.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from warren.clock import Clock
from warren.errors import ClusterUnreachable, KafkaError
from warren.kafka.brokers import Brokers
from warren.kafka.connection import log_retry
from warren.kafka.metadata import NO_LEADER
from warren.metrics.freshness import FRESHNESS_READ_BYTES, FRESHNESS_READS
from warren.settings import KafkaConnection

from warren_freshness.log_position import Position, Reading
from warren_freshness.reading.broker_fetches import BrokerScans, ByteBudget
from warren_freshness.reading.record_search import FIRST_SIZE, Scan
from warren_freshness.topics.metadata import TopicMetadata

# Requests to one broker that are open at a time: it reads while we search.
LANES = 2
# Topics with larger batches are asked for more from the start, but one huge batch changes little.
LEARNT_SIZE = 8 * FIRST_SIZE


class Reader:
    """Reads from one monitored cluster. For one event loop."""

    def __init__(
        self, cluster: str, setting: str, connection: KafkaConnection, clock: Clock
    ) -> None:
        """`setting` is the cluster's table. Raises SettingsError for what aiokafka cannot do."""
        self._cluster = cluster
        self._setting = setting
        self.brokers = Brokers(cluster, setting, connection)
        self.metadata = TopicMetadata(self.brokers, cluster, setting, clock)
        self._sizes: dict[str, int] = {}
        self._trouble: type[KafkaError] | None = None

    async def prepare(self, topics: Iterable[str], *, timeout: float) -> None:
        """Learns who leads the topics' partitions; on trouble, what is known must do."""
        try:
            async with asyncio.timeout(timeout):
                await self.metadata.refresh(topics)
        except KafkaError as error:
            self._report(error)
        except TimeoutError:
            self._report(
                ClusterUnreachable(
                    self._cluster, f"{self._setting}.bootstrap", f"no answer within {timeout:g} s"
                )
            )
        else:
            self._trouble = None

    async def read(
        self,
        wanted: Mapping[Position, int],
        budget: ByteBudget,
        *,
        timeout: float,
        only_before: bool = False,
    ) -> dict[Position, Reading]:
        """What there is at each position; `wanted` says from which offset on to look.

        Takes `timeout` seconds and the budget (and one batch) at most: the rest is `unread`. With
        `only_before`, the record before each position is all that is wanted.
        """
        scans = [
            Scan(position, offset, self._sizes.get(position.topic, FIRST_SIZE), only_before)
            for position, offset in wanted.items()
        ]
        used = budget.used
        try:
            async with asyncio.timeout(timeout):
                work = [broker.run() for broker in self._by_broker(scans, budget)]
                for failure in await asyncio.gather(*work, return_exceptions=True):
                    self._handle(failure)
        except TimeoutError:
            self.metadata.expire()
        FRESHNESS_READ_BYTES.labels(self._cluster).inc(budget.used - used)
        return self._readings(scans)

    async def close(self) -> None:
        await self.brokers.close()

    def _by_broker(self, scans: Iterable[Scan], budget: ByteBudget) -> list[BrokerScans]:
        by_broker: dict[int, list[Scan]] = defaultdict(list)
        for scan in scans:
            topic, partition, _ = scan.position
            leader = self.metadata.leader(topic, partition)
            if not self.metadata.is_authorised(topic):
                scan.refuse()
            elif leader == NO_LEADER:
                self.metadata.expire()
            else:
                by_broker[leader].append(scan)
        return [
            BrokerScans(self.brokers, broker, self.metadata, its_scans[lane::LANES], budget)
            for broker, its_scans in by_broker.items()
            for lane in range(LANES)
        ]

    def _readings(self, scans: Iterable[Scan]) -> dict[Position, Reading]:
        readings: dict[Position, Reading] = {}
        outcomes: Counter[str] = Counter()
        refused: set[str] = set()
        for scan in scans:
            reading = readings[scan.position] = scan.finish()
            outcomes[reading.outcome] += 1
            if reading.outcome == "record":
                topic = scan.position.topic
                self._sizes[topic] = min(max(scan.size, self._sizes.get(topic, 0)), LEARNT_SIZE)
            if reading.outcome == "not_authorised":
                refused.add(scan.position.topic)
        self.metadata.refuse(refused)
        for outcome, count in outcomes.items():
            FRESHNESS_READS.labels(self._cluster, outcome).inc(count)
        return readings

    def _handle(self, failure: BaseException | None) -> None:
        """A broker that refuses the credentials leaves the others alone."""
        if isinstance(failure, KafkaError):
            self._report(failure)
        elif failure is not None:
            raise failure

    def _report(self, error: KafkaError) -> None:
        """One line when the trouble begins or changes its kind."""
        if type(error) is not self._trouble:
            log_retry(error)
        self._trouble = type(error)
