"""Partitions of the offsets topic with open transactions: read on where librdkafka has to wait.

One client that dies between a transaction's offsets and its end would hold up all groups of the
partition. From where librdkafka waits, the tail of such a partition is read here, and what it
delivers later is a repetition; once all transactions are decided it goes on alone.

Reading of the offsets topic's partitions beyond their last stable offsets: librdkafka does not say
which records are a transaction's, so these are read as batches.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import confluent_kafka
import numpy as np
from numpy.typing import NDArray
from warren.clock import Clock
from warren.errors import KafkaError
from warren.kafka.connection import classify
from warren.settings import KafkaConnection
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.metadata import NO_ERROR, NO_LEADER, OUT_OF_RANGE, described_topics
from warren_wire.partition_requests import LATEST, READ_UNCOMMITTED, ListOffsetsRequest
from warren_wire.record_batches import Record, RecordBatch, decoded_batches, fetch_request

from warren_collector.sources.source import Batch, SourcePartition, SourcePartitions

PARTITION_BYTES = 2**20  # of one response; the first partition's may be one larger batch
MOST_BYTES = 8 * 2**20
_MOVED = frozenset({3, 5, 6, 9, 74, 75, 76, 100})  # leaders: the next metadata may tell


class Fetched(NamedTuple):
    """From one partition. `end` is the high watermark; before `stable_end` all transactions are
    decided. `is_gone`: the log does not have the offset, as when the topic was created anew.
    """

    end: int
    stable_end: int
    batches: list[RecordBatch]
    is_gone: bool = False


class UnstableReader:
    """For one thread: its event loop runs only within its methods.

    They raise ClusterUnreachable, AuthenticationFailed, AuthorizationFailed or TopicMissing.
    """

    def __init__(self, cluster: str, setting: str, connection: KafkaConnection, topic: str) -> None:
        """Raises SettingsError for what aiokafka cannot do."""
        self._cluster = cluster
        self._setting = setting
        self._topic = topic
        self._brokers = Brokers(cluster, setting, connection)
        self._leaders: dict[int, int] = {}
        self._runner = asyncio.Runner()

    def ends(self, partitions: Iterable[int]) -> dict[int, int]:
        """High watermarks of these partitions; those whose leaders do not answer are left out."""

        def ask(leader: int, partitions: list[tuple[int, int]]) -> Awaitable[Any]:
            return self._brokers.send(leader, ListOffsetsRequest([(self._topic, partitions)]))

        wanted = dict.fromkeys(partitions, LATEST)
        return {row[0]: row[-1] for row in self._runner.run(self._ask(wanted, ask))}

    def fetch(self, offsets: Mapping[int, int]) -> dict[int, Fetched]:
        """What there is from these offsets on, by partition; those that move are left out."""
        fetched: dict[int, Fetched] = {}
        for number, error, end, stable_end, *rest in self._runner.run(
            self._ask(offsets, self._ask_records)
        ):
            if error == OUT_OF_RANGE:
                fetched[number] = Fetched(0, 0, [], is_gone=True)
                continue
            stable = end if stable_end < 0 else stable_end
            fetched[number] = Fetched(end, stable, list(decoded_batches(rest[-1] or b"")))
        return fetched

    def close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()

    async def _ask(
        self,
        wanted: Mapping[int, int],
        ask: Callable[[int, list[tuple[int, int]]], Awaitable[Any]],
    ) -> list[Any]:
        """The answers about all partitions that have a leader; asks twice where one has moved."""
        answers: dict[int, Any] = {}
        for _ in range(2):
            if not self._leaders.keys() >= wanted.keys():
                for topic in described_topics(await self._brokers.metadata([self._topic])):
                    if topic.error != NO_ERROR and topic.error not in _MOVED:
                        raise classify(
                            self._cluster, self._setting, confluent_kafka.KafkaError(topic.error)
                        )
                    self._leaders = dict(topic.leaders)
            by_leader: dict[int, list[tuple[int, int]]] = defaultdict(list)
            for number in wanted.keys() - answers.keys():
                by_leader[self._leaders.get(number, NO_LEADER)].append((number, wanted[number]))
            by_leader.pop(NO_LEADER, None)
            for leader, partitions in by_leader.items():
                for row in await self._rows(leader, partitions, ask):
                    if self._is_answer(row[1]):
                        answers[row[0]] = row
            if answers.keys() >= wanted.keys():
                break
            self._leaders.clear()
        return list(answers.values())

    async def _rows(
        self,
        leader: int,
        partitions: list[tuple[int, int]],
        ask: Callable[[int, list[tuple[int, int]]], Awaitable[Any]],
    ) -> list[Any]:
        try:
            answer = await ask(leader, partitions)
        except UNANSWERED:
            return []
        return [row for _topic, rows in answer.topics for row in rows]

    def _is_answer(self, code: int) -> bool:
        if code in (NO_ERROR, OUT_OF_RANGE):
            return True
        if code not in _MOVED:
            raise classify(self._cluster, self._setting, confluent_kafka.KafkaError(code))
        return False

    async def _ask_records(self, leader: int, partitions: list[tuple[int, int]]) -> Any:
        wanted = [(number, offset, PARTITION_BYTES) for number, offset in partitions]
        request = fetch_request([(self._topic, wanted)], MOST_BYTES, READ_UNCOMMITTED)
        return await self._brokers.send(leader, request)


LOOK_EVERY = 0.2  # seconds
LOOK_AGAIN_AFTER = 2.0  # seconds, when nobody answered


class Visible(NamedTuple):
    """A record that counts. `since` is the offset by which: its own, or its marker's."""

    record: Record
    since: int


class OpenTransactions:
    """Records beyond a partition's last stable offset, isolated as by Kafka's coordinator.

    A plain commit counts at once, one of a transaction when its marker comes; of each key the
    record written last wins, so a plain commit may have passed a transaction's that was written
    before it. Takes in batches in the order of the log, from `start` on.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self.position = start
        """Offset after what was taken in."""
        self._pending: dict[int, list[Record]] = {}
        self._newest: dict[bytes | None, int] = {}
        self._stable_end = start

    @property
    def pending(self) -> int:
        """Records whose transactions are open."""
        return sum(map(len, self._pending.values()))

    def take(self, batch: RecordBatch) -> Iterator[Visible]:
        """What the batch makes visible; exhaust it. Raises UnreadableBatch."""
        begins, self.position = self.position, max(self.position, batch.next_offset)
        if batch.is_control:
            ended = self._pending.pop(batch.producer_id, []) if batch.marker else []
            if batch.marker == "commit":
                yield from self._committed(ended, batch.next_offset - 1)
            return
        records = (record for record in batch.records() if record.offset >= begins)
        if batch.is_transactional:
            self._pending.setdefault(batch.producer_id, []).extend(records)
            return
        for record in records:
            self._newest[record.key] = record.offset
            yield Visible(record, record.offset)

    def decide(self, stable_end: int) -> None:
        """Before that offset no transaction is open: nothing is passed there any more."""
        if stable_end > self._stable_end:
            self._stable_end = stable_end
            self._newest = {key: at for key, at in self._newest.items() if at >= stable_end}

    def _committed(self, records: list[Record], marker: int) -> Iterator[Visible]:
        for record in records:
            if record.offset > self._newest.get(record.key, -1):
                self._newest[record.key] = record.offset
                yield Visible(record, marker)


@dataclass(slots=True)
class _Tail:
    """`delivered`: how far librdkafka has come. `is_settled`: no transaction is open any more."""

    transactions: OpenTransactions
    delivered: int
    is_settled: bool = False

    @property
    def is_over(self) -> bool:
        return self.is_settled and self.delivered >= self.transactions.position


class UnstableTails:
    """Of the owned partitions. For one thread."""

    def __init__(
        self,
        partitions: SourcePartitions,
        reader: UnstableReader,
        high_watermark: Callable[[int], int],
        clock: Clock,
    ) -> None:
        """`high_watermark` says, without asking anybody, where a partition's log ends."""
        self._partitions = partitions
        self._reader = reader
        self._high_watermark = high_watermark
        self._clock = clock
        self._tails: dict[int, _Tail] = {}
        self._waiting: dict[int, int] = {}
        self._looks_at = 0.0
        self.problem: KafkaError | None = None
        """Why nothing could be read at the last look."""
        self.has_more = False
        """Whether the last look left something behind that is there already."""

    def __contains__(self, number: object) -> bool:
        return number in self._tails

    @property
    def pending(self) -> int:
        """Records whose transactions are open."""
        return sum(tail.transactions.pending for tail in self._tails.values())

    def begin(self, number: int, start: int, delivered: int) -> None:
        """From `start` on a partition is read here, after what librdkafka delivers before it."""
        self._tails[number] = _Tail(OpenTransactions(start), delivered)

    def end(self, numbers: Iterable[int]) -> None:
        """These partitions are not read here any more, whatever is open."""
        for number in numbers:
            self._tails.pop(number, None)

    def delivered(self, number: int, position: int) -> None:
        """librdkafka has come so far in a partition."""
        tail = self._tails.get(number)
        if tail is not None:
            tail.delivered = max(tail.delivered, position)
            if tail.is_over:
                del self._tails[number]

    def news(
        self, partitions: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Which of the records that librdkafka delivers were not read here; None for all."""
        if not self._tails or not len(offsets):
            return None
        news = np.ones(len(offsets), np.bool_)
        for number, tail in list(self._tails.items()):
            here = partitions == number
            if not here.any():
                continue
            repeated = here & (offsets >= tail.transactions.start)
            if tail.is_settled:
                repeated &= offsets < tail.transactions.position
            news &= ~repeated
            self.delivered(number, int(offsets[here].max()) + 1)
        return news

    def look(self) -> Batch | None:
        """What has become visible, if it is time for a look. Call it before each poll."""
        now = self._clock.monotonic()
        if now < self._looks_at:
            return None
        try:
            # Positions of partitions where librdkafka has waited for two looks while the log went
            # on, perhaps for the end of a transaction.
            waiting = {
                p.number: p.position
                for p in self._partitions
                if p.waits_at == p.position
                and p.number not in self._tails
                and self._high_watermark(p.number) > p.position
            }
            before, self._waiting = self._waiting, waiting
            batch = self._read(
                {number: at for number, at in waiting.items() if before.get(number) == at}
            )
        except KafkaError as error:
            self.problem, self.has_more = error, False
            self._looks_at = now + LOOK_AGAIN_AFTER
            return None
        self.problem = None
        self._looks_at = now + (0 if self.has_more else LOOK_EVERY)
        return batch

    def _read(self, suspected: Mapping[int, int]) -> Batch | None:
        self.has_more = False
        wanted = {
            number: tail.transactions.position
            for number, tail in self._tails.items()
            if not tail.is_settled and tail.delivered >= tail.transactions.start
        }
        wanted |= suspected
        if not wanted:
            return None
        visible: list[tuple[SourcePartition, Visible]] = []
        for number, fetched in self._reader.fetch(wanted).items():
            partition = self._partitions.get(number)
            if partition is None:
                continue
            if fetched.is_gone:
                self.end([number])
                partition.open_from = None
            elif number in self._tails:
                visible += self._take(partition, fetched)
            elif fetched.stable_end <= wanted[number] < fetched.end:
                self.begin(number, wanted[number], wanted[number])
                visible += self._take(partition, fetched)
        return _batch(visible) if visible else None

    def _take(
        self, partition: SourcePartition, fetched: Fetched
    ) -> list[tuple[SourcePartition, Visible]]:
        tail = self._tails.pop(partition.number)
        transactions, before = tail.transactions, tail.transactions.position
        visible = [
            (partition, one)
            for batch in fetched.batches
            if batch.next_offset > transactions.position
            for one in transactions.take(batch)
        ]
        transactions.decide(fetched.stable_end)
        self._tails[partition.number] = tail  # at the end: others come first in the next request
        position = transactions.position
        partition.advance(position)
        partition.open_from = min(fetched.stable_end, position)
        if position < fetched.end:
            self.has_more |= position > before
            return visible
        partition.reach_end(position)
        is_read = position >= tail.delivered and fetched.stable_end >= position
        if is_read and not transactions.pending:
            tail.is_settled = True
            partition.open_from = None
            self.delivered(partition.number, tail.delivered)
        return visible


def _batch(visible: list[tuple[SourcePartition, Visible]]) -> Batch:
    times = [one.record.timestamp for _, one in visible]
    return Batch(
        keys=[one.record.key for _, one in visible],
        values=[one.record.value for _, one in visible],
        partitions=np.array([partition.number for partition, _ in visible], np.int32),
        offsets=np.array([one.record.offset for _, one in visible], np.int64),
        counted=np.array([one.since >= partition.count_from for partition, one in visible]),
        time=lambda index: -1 if (time := times[index]) is None else time,
    )
