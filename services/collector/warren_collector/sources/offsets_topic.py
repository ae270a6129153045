"""Source `offsets_topic`: the group coordinator's own records, shared out by a consumer group."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import confluent_kafka
import numpy as np
import structlog
from confluent_kafka import (
    OFFSET_BEGINNING,
    TIMESTAMP_NOT_AVAILABLE,
    KafkaException,
    Message,
    TopicPartition as Partition,
)
from warren.clock import Clock, SystemClock
from warren.errors import ClusterUnreachable, KafkaError
from warren.kafka.connection import ErrorReporter, classify
from warren.kafka.hearing import hearing_of
from warren.kafka.rebalances import Rebalances, group_consumer
from warren.settings import ClusterSettings

from warren_collector.sources.source import (
    Batch,
    SourcePartition,
    SourcePartitions,
    assigned,
    open_from_of,
    open_from_text,
)
from warren_collector.sources.unstable_tails import UnstableReader, UnstableTails

log = structlog.get_logger(__name__)

BATCH = 10_000
NO_POSITION = -1
RESOLVE_AGAIN = 5.0  # seconds until a leader that did not answer is asked again
RESOLVE_TIMEOUT = 15.0  # seconds for the positions of newly assigned partitions

Code = confluent_kafka.KafkaError
# Another collector has taken over, or is about to: it repeats what was not stored.
_REBALANCING = {
    Code.ILLEGAL_GENERATION,
    Code.REBALANCE_IN_PROGRESS,
    Code.UNKNOWN_MEMBER_ID,
    Code._NO_OFFSET,
}
_FATAL = {
    Code.TOPIC_AUTHORIZATION_FAILED,
    Code.GROUP_AUTHORIZATION_FAILED,
    Code.SASL_AUTHENTICATION_FAILED,
    Code._MAX_POLL_EXCEEDED,
}


class OffsetsTopicSource:
    """Reads the owned partitions from their beginning: compacted, they are the whole state.

    `partitions` says how far; a partition is live once the end seen at its assignment is passed.
    Transactional commits are seen once their transaction is committed; they hold up no others.
    """

    def __init__(
        self,
        cluster: str,
        setting: str,
        settings: ClusterSettings,
        group: str,
        on_released: Callable[[list[int]], None],
        clock: Clock | None = None,
        alone: Mapping[int, int] | None = None,
    ) -> None:
        """`on_released` is told which partitions another collector owns from now on. `alone`: all
        partitions are read, without the group, whose coordinator is out of reach; positions that
        were stored.

        Raises SettingsError for a property that librdkafka does not know.
        """
        self.partitions = SourcePartitions()
        self.partition_count = 0
        """Partitions of the offsets topic, also those of others; 0 before an assignment."""
        self._cluster = cluster
        self._setting = setting
        self._topic = settings.offsets_topic
        self._on_released = on_released
        self._report = ErrorReporter(cluster, setting)
        self._rebalances = Rebalances(settings.offsets_topic)
        self._was_assigned = False
        self._alone = alone
        self._unresolved: frozenset[int] = frozenset()
        """Owned partitions whose leaders are out of reach."""
        self._resolves_at = 0.0
        self._reader = UnstableReader(cluster, setting, settings, settings.offsets_topic)
        self._clock = clock = clock or SystemClock()
        self._tails = UnstableTails(self.partitions, self._reader, self._high_watermark, clock)
        self._consumer = group_consumer(
            cluster,
            setting,
            settings,
            group,
            self._report,
            session_seconds=8.0,
            on_commit=self._answered,
            allow_auto_create_topics=False,
            # A cluster that is new has no offsets topic until its first group.
            topic_metadata_refresh_interval_ms=5_000,
            fetch_message_max_bytes=2**20,
            # Compressed, and 300 bytes more for each message of it once it is here.
            fetch_max_bytes=2 * 2**20,
            queued_min_messages=20_000,
            queued_max_messages_kbytes=8 * 2**10,
            # So little is soon used up, and librdkafka's second of waiting is long then.
            fetch_queue_backoff_ms=10,
        )
        if alone is None:
            self._rebalances.subscribe(self._consumer)
        self._hearing = hearing_of(self._consumer, self._topic, cluster, setting, settings, clock)

    @property
    def is_ready(self) -> bool:
        """Assigned (perhaps nothing: others have it all), and every owned partition is live."""
        return self._was_assigned and self.partitions.are_live

    @property
    def problem(self) -> KafkaError | None:
        """Why what open transactions hold up is not read; all else `poll` raises."""
        return self._tails.problem

    @property
    def obstacle(self) -> KafkaError | None:
        """None: `poll` raises what there is."""
        return None

    @property
    def pending(self) -> int:
        """Records of owned partitions that wait for the end of their transactions."""
        return self._tails.pending

    def poll(self, timeout: float) -> Batch:
        """Records that have arrived, at most 10,000; collects for up to `timeout` seconds.

        Raises what the broker refuses, and ClientLost; a broker that is away only delays.
        """
        held_up = self._tails.look()
        if held_up is not None:
            return held_up
        messages = self._consumer.consume(BATCH, 0 if self._tails.has_more else timeout)
        assigned = self._released_and_assigned()
        batch = self._taken(messages)
        if assigned is not None:  # after the batch: what it has of them was not read from the start
            # Raises what the broker refuses; then the source is of no use any more.
            try:
                self._resolve(assigned)
                if self._alone is None:
                    beginning = dict.fromkeys(assigned, OFFSET_BEGINNING)
                    self._rebalances.begin_at(self._consumer, beginning)
                else:
                    self._consumer.assign(
                        [Partition(self._topic, n, OFFSET_BEGINNING) for n in assigned]
                    )
            except KafkaException as error:
                raise classify(self._cluster, self._setting, error.args[0]) from None
            self._was_assigned = True
            log.info(
                "partitions assigned",
                cluster=self._cluster,
                partitions=assigned,
                owned=len(self.partitions),
                records=self.partitions.behind(),
            )
        elif self._unresolved and self._clock.monotonic() >= self._resolves_at:
            self._reread(self._unresolved)
        self._hearing.follow(heard=bool(messages), joined=self._was_assigned)
        return batch

    def _taken(self, messages: list[Message]) -> Batch:
        # Method descriptors mapped over the messages: no Python code runs per record.
        errors = list(map(Message.error, messages))
        if not any(errors):
            return self._batch(messages)
        batch = self._batch([m for m, error in zip(messages, errors, strict=True) if error is None])
        # Only now: an end that is reached comes after the records before it.
        for message, error in zip(messages, errors, strict=True):
            if error is None:
                continue
            if error.code() == Code._PARTITION_EOF:
                partition = self.partitions.get(message.partition() or 0)
                if partition is not None:
                    self._reach_end(partition, message.offset() or 0)
            elif error.fatal() or error.code() in _FATAL:
                raise classify(self._cluster, self._setting, error)
            else:
                self._report(error)
        return batch

    def _batch(self, messages: list[Message]) -> Batch:
        count = len(messages)
        partitions = np.fromiter(map(Message.partition, messages), np.int32, count)
        offsets = np.fromiter(map(Message.offset, messages), np.int64, count)
        owned = self.partitions.owned(partitions)
        if owned is not None:  # the last records of a partition that was revoked just now
            messages = [m for m, is_owned in zip(messages, owned, strict=True) if is_owned]
            partitions, offsets = partitions[owned], offsets[owned]
        news = self._tails.news(partitions, offsets)
        if news is not None:
            messages = [m for m, is_news in zip(messages, news, strict=True) if is_news]
            partitions, offsets = partitions[news], offsets[news]
        counted = self.partitions.counted(partitions, offsets)
        first = self.partitions.first(partitions, counted)
        self.partitions.advance(partitions, offsets)
        return Batch(
            keys=list(map(Message.key, messages)),
            values=list(map(Message.value, messages)),
            partitions=partitions,
            offsets=offsets,
            counted=counted,
            first=first,
            time=lambda index: _time(messages[index]),
        )

    def backlog(self) -> int:
        """Offsets between what was read of the owned partitions and their ends, as last heard."""
        return sum(
            max(max(self._high_watermark(p.number), p.end) - p.position, 0) for p in self.partitions
        )

    def store(self) -> None:
        """Commits the live partitions' positions, where they changed, and waits for no answer. What
        was sent goes before the group is left or joined anew, so that no stop and no rebalance
        overtakes it.
        """
        changed = [p for p in self.partitions if p.is_live and p.stored != p.position]
        if not changed or self._alone is not None:
            return
        offsets = [
            Partition(self._topic, p.number, p.position, metadata=open_from_text(p.open_from))
            for p in changed
        ]
        for partition in changed:
            partition.stored = partition.position
        try:
            self._consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            self._answered(error.args[0], offsets)

    def _answered(
        self, error: confluent_kafka.KafkaError | None, offsets: Sequence[Partition]
    ) -> None:
        """After a failure the position is sent with the next ones: what is not stored is
        counted and published once more by the next owner.
        """
        for at in offsets:
            failed = error or at.error
            if failed is None:
                continue
            if (partition := self.partitions.get(at.partition)) is not None:
                partition.stored = None
            if failed.code() not in _REBALANCING:
                self._report(failed)

    def reread(self) -> None:
        """Reads the owned partitions from their beginning once more: other groups are wanted now.

        Raises what the broker refuses; then the source is of no use any more.
        """
        owned = [partition.number for partition in self.partitions]
        if not owned:
            return
        self._on_released(owned)
        self._tails.end(owned)
        self._reread(owned)

    def _reread(self, numbers: Iterable[int]) -> None:
        try:
            for number in self._resolve(sorted(numbers)):
                self._consumer.seek(Partition(self._topic, number, OFFSET_BEGINNING))
        except KafkaException as error:
            raise classify(self._cluster, self._setting, error.args[0]) from None

    def close(self) -> None:
        """Leaves the group."""
        self._consumer.close()
        self._reader.close()

    def _reach_end(self, partition: SourcePartition, position: int) -> None:
        """librdkafka has nothing beyond `position`: the end, or the first open transaction."""
        partition.waits_at = position
        self._tails.delivered(partition.number, position)
        if partition.number in self._tails:
            return
        if self._high_watermark(partition.number) <= position:
            partition.reach_end(position)
            return
        partition.advance(position)
        if not partition.is_live:  # of what was there at assignment, something is open
            self._tails.begin(partition.number, position, delivered=position)

    def _high_watermark(self, number: int) -> int:
        """As librdkafka has heard last; 0 before it has heard anything."""
        at = Partition(self._topic, number)
        _, end = self._consumer.get_watermark_offsets(at, cached=True) or (0, 0)
        return max(int(end), 0)

    def _released_and_assigned(self) -> list[int] | None:
        """Gives up what the group took; what is new and still ours, None if it said nothing."""
        if self._alone is not None:
            return None if self._was_assigned else self._all()
        rebalances = self._rebalances.take()
        if not rebalances:
            return None
        assigned: set[int] = set()
        for rebalance in rebalances:
            if rebalance.kind == "assigned":
                assigned.update(rebalance.partitions)
            else:
                assigned.difference_update(rebalance.partitions)
                for number in rebalance.partitions:
                    self.partitions.remove(number)
                self._unresolved -= {*rebalance.partitions}
                self._tails.end(rebalance.partitions)
                self._on_released(list(rebalance.partitions))
                log.info(
                    "partitions released",
                    cluster=self._cluster,
                    partitions=sorted(rebalance.partitions),
                )
        # Who owns what is open once the group has given us up.
        is_told = rebalances[-1].kind != "lost"
        self._was_assigned = self._was_assigned and is_told
        return sorted(assigned) if is_told else None

    def _all(self) -> list[int]:
        """Raises KafkaException."""
        topics = self._consumer.list_topics(self._topic, timeout=RESOLVE_TIMEOUT).topics
        self.partition_count = len(topics[self._topic].partitions)
        return list(range(self.partition_count))

    def _resolve(self, numbers: Sequence[int]) -> list[int]:
        """Take over these partitions, from where the collectors stopped; those whose leader says
        where its log ends. The others are asked for again.

        Raises KafkaException, KafkaError.
        """
        if not numbers:
            return []
        partitions = [Partition(self._topic, number) for number in numbers]
        if self._alone is None:
            self._all()
            stored = self._consumer.committed(partitions, timeout=RESOLVE_TIMEOUT)
        else:
            stored = [Partition(self._topic, n, self._alone.get(n, NO_POSITION)) for n in numbers]
        ends = self._reader.ends(numbers)
        if not ends and not len(self.partitions):
            problem = f"no leader says where {self._topic} ends"
            raise ClusterUnreachable(self._cluster, f"{self._setting}.bootstrap", problem)
        for at in stored:
            if at.partition in ends:
                position = at.offset if at.offset >= 0 else None
                end, open_from = ends[at.partition], open_from_of(at.metadata)
                self._add(assigned(at.partition, position, end, open_from))
        self._unresolved = self._unresolved.union(numbers) - ends.keys()
        self._resolves_at = self._clock.monotonic() + RESOLVE_AGAIN
        return list(ends)

    def _add(self, partition: SourcePartition) -> None:
        self.partitions.add(partition)
        if partition.open_from is not None:  # its markers say what counts since then
            self._tails.begin(partition.number, partition.open_from, delivered=0)


def _time(message: Message) -> int:
    kind, time = message.timestamp()
    return -1 if kind == TIMESTAMP_NOT_AVAILABLE else int(time)
