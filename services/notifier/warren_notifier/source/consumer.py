"""The consumer of `warren.incidents`: all calls from one thread, partitions handed over in order.

Before a partition goes to another notifier, `on_revoke` has ended the work on it. What was
delivered but not committed is read again by the next one.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import confluent_kafka
import structlog
from confluent_kafka import OFFSET_INVALID, Consumer, KafkaException, TopicPartition
from warren.clock import SystemClock
from warren.errors import ClusterUnreachable, KafkaError
from warren.kafka.hearing import hearing_of
from warren.kafka.rebalances import group_consumer
from warren.kafka.topics import HOME, home_error
from warren.settings import HomeSettings

from warren_notifier.routing.change import Change, Subject

REMEMBERED = 5_000  # ids, of each partition


class Backlog:
    """Folds the changes of one partition below the offset `until`."""

    def __init__(self, until: int) -> None:
        self._until = until
        self._open: dict[Subject, tuple[Change, int]] = {}

    def covers(self, offset: int) -> bool:
        return offset < self._until

    def fold(self, change: Change, offset: int) -> None:
        known = self._open.get(change.subject)
        if known is not None and change.opened_at < known[0].opened_at:
            return  # of an incident before, late or again
        if change.closing:
            self._open.pop(change.subject, None)
        else:
            self._open[change.subject] = (change, offset)

    def is_read_to(self, offset: int) -> bool:
        """Whether all is known when there is no record below `offset` any more."""
        return offset >= self._until

    def lasting(self) -> list[tuple[Change, int]]:
        """Newest changes, with their offsets, of groups that are not OK."""
        return sorted(self._open.values(), key=lambda item: item[1])


class SeenEvents:
    """Which events have been taken in lately: an evaluator that was killed publishes some again.

    Ids by partition, as long as it is served. What was taken in longer ago is no replay."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._remembered = remembered
        self._ids: dict[int, OrderedDict[str, None]] = {}

    def has(self, partition: int, event_id: str) -> bool:
        return event_id in self._ids.get(partition, ())

    def add(self, partition: int, event_id: str) -> None:
        ids = self._ids.setdefault(partition, OrderedDict())
        ids[event_id] = None
        if len(ids) > self._remembered:
            ids.popitem(last=False)

    def forget(self, partition: int) -> None:
        """It is served no longer: what is read again later may not have been written."""
        self._ids.pop(partition, None)


log = structlog.get_logger(__name__)

BATCH = 100
TIMEOUT = 10.0

OnRevoke = Callable[[Collection[int]], None]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """Where it lies, and its bytes."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class PartitionStart:
    """The group's committed offset, the log end offset, and the backlog of a first start."""

    committed: int
    end: int
    backlog: Backlog | None = None


@dataclass(frozen=True, slots=True)
class Poll:
    """`assigned`: partitions that are ours from now on, before `records`. `read_to`: offsets below
    which a partition has no record any more, behind those of `records`.
    """

    assigned: Mapping[int, PartitionStart]
    records: list[SourceRecord]
    read_to: Mapping[int, int]


class StatusConsumer:
    """`on_revoke(partitions)` is called in the consumer's thread and may block.

    Raises TopicMissing, ClusterUnreachable, AuthenticationFailed or AuthorizationFailed.
    """

    def __init__(
        self,
        home: HomeSettings,
        group_id: str,
        topic: str,
        session_timeout: float,
        on_revoke: OnRevoke,
    ) -> None:
        self._topic = topic
        self._on_revoke = on_revoke
        self._owned: set[int] = set()
        self._read_to: dict[int, int] = {}
        self._assigned: set[int] = set()
        self.has_assignment = False
        """Whether the group has said which partitions are ours, be it none."""
        self._lost = False
        # What a transaction leaves at the end of a log is no record: see `_records`.
        self._sent: dict[int, int] = {}
        """Positions that were sent last, by partition, but those that were refused."""
        self._acknowledged: dict[int, int] = {}
        self._consumer = group_consumer(
            HOME,
            HOME,
            home,
            group_id,
            session_seconds=session_timeout,
            on_commit=self._answered,
        )
        self._consumer.subscribe(
            [topic], on_assign=self._assign, on_revoke=self._revoke, on_lost=self._lose
        )
        self._hearing = hearing_of(self._consumer, topic, HOME, HOME, home, SystemClock())

    def poll(self, timeout: float) -> Poll:
        """What has arrived, at most 100 records; waits up to `timeout` seconds for the first."""
        try:
            first = self._consumer.poll(timeout)
            # (The length of a message is that of its value: an empty one would be false.)
            more = [] if first is None else [first, *self._consumer.consume(BATCH - 1, 0)]
            starts = {number: self._start(number) for number in sorted(self._assigned)}
        except KafkaException as error:
            raise home_error(error.args[0]) from None
        if self._lost:
            # Another notifier may serve them already: nothing that is still in hand may be written.
            raise ClusterUnreachable(HOME, "home.bootstrap", "partitions lost, session timed out")
        self._hearing.follow(heard=bool(more), joined=self.has_assignment)
        self._assigned.clear()
        self._owned |= starts.keys()
        records = [record for m in more for record in self._records(m)]
        read_to, self._read_to = self._read_to, {}
        return Poll(starts, records, read_to)

    def _records(self, message: confluent_kafka.Message) -> list[SourceRecord]:
        error = message.error()
        partition, offset = message.partition() or 0, message.offset() or 0
        if error is not None:
            if error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                # Aborted records and transaction markers are passed over without a word.
                if partition in self._owned:
                    self._read_to[partition] = offset
                return []
            if error.retriable() or error.code() == confluent_kafka.KafkaError._MAX_POLL_EXCEEDED:
                return []
            raise home_error(error)
        if partition not in self._owned:  # revoked while the batch was put together
            return []
        return [SourceRecord(partition, offset, message.key(), message.value())]

    def _start(self, partition: int) -> PartitionStart:
        at = TopicPartition(self._topic, partition)
        low, high = self._consumer.get_watermark_offsets(at, timeout=TIMEOUT)
        committed = self._consumer.committed([at], timeout=TIMEOUT)[0].offset
        if committed != OFFSET_INVALID:
            return PartitionStart(committed, high)
        if low < high:
            return PartitionStart(low, high, Backlog(high))
        self._send({partition: high})  # from now on there is no backlog any more
        return PartitionStart(high, high)

    def commit(self, positions: Mapping[int, int]) -> dict[int, int]:
        """Send positions by partition, and give those that were acknowledged since.

        A refusal only means that events are read again.
        """
        self._send(positions)
        acknowledged, self._acknowledged = self._acknowledged, {}
        return acknowledged

    def _send(self, positions: Mapping[int, int]) -> None:
        news = {p: offset for p, offset in positions.items() if self._sent.get(p) != offset}
        if not news:
            return
        self._sent |= news
        at = [TopicPartition(self._topic, number, offset) for number, offset in news.items()]
        try:
            self._consumer.commit(offsets=at, asynchronous=True)
        except KafkaException as error:
            self._answered(error.args[0], at)

    def _answered(
        self, error: confluent_kafka.KafkaError | None, offsets: Sequence[TopicPartition]
    ) -> None:
        """What is refused is sent again, should it still be due."""
        refusal = None
        for at in offsets:
            if (failed := error or at.error) is None:
                self._acknowledged[at.partition] = at.offset
                continue
            refusal = failed
            if self._sent.get(at.partition) == at.offset:
                del self._sent[at.partition]
        if refusal is not None:
            problem: KafkaError = home_error(refusal)
            log.warning("positions not committed", problem=problem.problem)

    def close(self) -> None:
        """Leaves the group."""
        self._consumer.close()

    def _assign(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.has_assignment = True
        self._assigned |= {at.partition for at in partitions}

    def _revoke(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        revoked = {at.partition for at in partitions}
        self._assigned -= revoked
        for number in revoked:
            self._sent.pop(number, None)
        ours = self._owned & revoked
        self._owned -= revoked
        if ours:
            self._on_revoke(ours)

    def _lose(self, _: Consumer, __: list[TopicPartition]) -> None:
        self._lost = True


class Positions:
    """Positions that are to be committed, of the assigned partitions. What was refused once is
    tried again, also without news.

    A rebalance refuses commits that come while it goes on. On a topic where nothing happens next,
    the position would stay behind for good.
    """

    def __init__(self) -> None:
        self._due: dict[int, int] = {}

    @property
    def due(self) -> dict[int, int]:
        return dict(self._due)

    def take(self, positions: Mapping[int, int]) -> None:
        """Newer positions replace older ones."""
        self._due.update(positions)

    def committed(self, positions: Mapping[int, int]) -> None:
        for partition, position in positions.items():
            if self._due.get(partition) == position:
                del self._due[partition]

    def revoked(self, partitions: Collection[int]) -> None:
        """The next one who serves them commits what it has done."""
        for partition in partitions:
            self._due.pop(partition, None)
