"""Which groups are this collector's, where no partition of an offsets topic says so."""

import zlib
from collections.abc import Callable
from typing import Protocol

import structlog
from confluent_kafka import KafkaException, TopicPartition as Partition
from warren.clock import Clock
from warren.contracts.topics import GROUPS
from warren.errors import KafkaError
from warren.kafka.connection import ErrorReporter
from warren.kafka.hearing import hearing_of
from warren.kafka.rebalances import Rebalance, Rebalances, group_consumer
from warren.kafka.topics import HOME, home_error
from warren.settings import HomeSettings

from warren_collector.sources.source import SourcePartitions

log = structlog.get_logger(__name__)

METADATA_TIMEOUT = 15.0  # seconds


class Shards(Protocol):
    """Groups are in shards, and each shard is one collector's."""

    @property
    def owned(self) -> frozenset[int] | None:
        """None while that is open."""

    def of(self, group: str) -> int:
        """The group's shard."""

    def poll(self) -> None:
        """Learns of changes; call it often. Raises KafkaError."""

    def close(self) -> None: ...


class MembershipShards:
    """Shards are the partitions of `warren.groups` on the home cluster, shared out by Kafka.

    Nothing is read from that topic here: what counts is the membership.
    """

    def __init__(
        self,
        home: HomeSettings,
        group_id: str,
        on_released: Callable[[list[int]], None],
        clock: Clock,
    ) -> None:
        """`on_released` is told which shards another collector owns from now on.

        Raises TopicMissing, ClusterUnreachable, AuthenticationFailed, AuthorizationFailed.
        """
        self._topic = GROUPS.full_name(home.topic_prefix)
        self._on_released = on_released
        self._owned: frozenset[int] | None = None
        self._report = ErrorReporter(HOME, HOME)
        self._consumer = group_consumer(
            HOME,
            HOME,
            home,
            group_id,
            self._report,
            enable_partition_eof=False,
            auto_offset_reset="latest",
            allow_auto_create_topics=False,
        )
        try:
            self._count = self._partitions()
        except KafkaError:
            self._consumer.close()
            raise
        self._rebalances = Rebalances(self._topic)
        self._rebalances.subscribe(self._consumer)
        self._hearing = hearing_of(self._consumer, self._topic, HOME, HOME, home, clock)

    @property
    def owned(self) -> frozenset[int] | None:
        return self._owned

    def of(self, group: str) -> int:
        return zlib.crc32(group.encode()) % self._count

    def poll(self) -> None:
        message = self._consumer.poll(0)
        for rebalance in self._rebalances.take():
            self._follow(rebalance)
        error = message.error() if message is not None else None
        if error is not None:
            if error.fatal() or not error.retriable():
                raise home_error(error)
            self._report(error)
        self._hearing.follow(heard=False, joined=self._owned is not None)

    def close(self) -> None:
        """Leaves the group."""
        self._consumer.close()

    def _partitions(self) -> int:
        try:
            topic = self._consumer.list_topics(self._topic, timeout=METADATA_TIMEOUT).topics[
                self._topic
            ]
        except KafkaException as error:
            raise home_error(error.args[0]) from None
        if topic.error is not None:
            raise home_error(topic.error)
        return len(topic.partitions)

    def _follow(self, rebalance: Rebalance) -> None:
        if rebalance.kind != "assigned":
            self._owned = (self._owned or frozenset()).difference(rebalance.partitions)
            self._on_released(list(rebalance.partitions))
            log.info("shards released", shards=sorted(rebalance.partitions))
            if rebalance.kind == "lost":  # who owns what is open
                self._owned = None
            return
        try:
            self._consumer.pause([Partition(self._topic, n) for n in rebalance.partitions])
        except KafkaException as error:
            raise home_error(error.args[0]) from None
        self._owned = (self._owned or frozenset()).union(rebalance.partitions)
        log.info("shards assigned", shards=sorted(self._owned))


class OffsetsTopicShards:
    """Shards are the partitions of the offsets topic: a group is read by the collector that also
    has its records. Those not rebuilt yet are left out.
    """

    def __init__(self, partitions: SourcePartitions, count: Callable[[], int]) -> None:
        """`count` says how many partitions the topic has."""
        self._partitions = partitions
        self._count = count

    @property
    def owned(self) -> frozenset[int]:
        return frozenset(self._partitions.live())

    def of(self, group: str) -> int:
        """To be asked once something is owned: then the number of partitions is known."""
        return offsets_partition(group, self._count())

    def poll(self) -> None:
        """Who reads the topic polls."""

    def close(self) -> None:
        """Who reads the topic closes it."""


def java_hash(text: str) -> int:
    """Java's String.hashCode, by which Kafka finds a group's partition (a signed 32-bit number)."""
    units = text.encode("utf-16-be")
    number = 0
    for at in range(0, len(units), 2):
        number = (31 * number + units[at] * 256 + units[at + 1]) & 0xFFFFFFFF
    return number - 2**32 if number >= 2**31 else number


def offsets_partition(group: str, partitions: int) -> int:
    """The partition of the offsets topic that holds a group's records (Kafka's Utils.abs)."""
    number = java_hash(group)
    return 0 if number == -(2**31) else abs(number) % partitions
