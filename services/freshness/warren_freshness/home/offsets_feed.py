"""warren.offsets as a consumer group reads it: partitions come and go, commits come after use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import confluent_kafka
import structlog
from confluent_kafka import (
    OFFSET_END,
    OFFSET_STORED,
    KafkaException,
    Message,
    TopicPartition,
)
from warren.clock import Clock
from warren.contracts.topics import OFFSETS
from warren.errors import ClientLost, KafkaError
from warren.kafka.connection import ErrorReporter, log_retry
from warren.kafka.group_backlog import GroupBacklog
from warren.kafka.hearing import hearing_of
from warren.kafka.rebalances import Rebalances, group_consumer
from warren.kafka.topic_reader import CatchingUp
from warren.kafka.topics import home_error
from warren.settings import Settings
from warren.standstill import Look

log = structlog.get_logger(__name__)

HOME = "home"
BATCH = 500
# A group is published at least once per heartbeat: the events of two of them hold every group.
HEARTBEATS_BACK = 2
_TIMEOUT = 10.0  # seconds for the questions at an assignment
Code = confluent_kafka.KafkaError
_REFUSALS = {
    Code.TOPIC_AUTHORIZATION_FAILED,
    Code.GROUP_AUTHORIZATION_FAILED,
    Code.SASL_AUTHENTICATION_FAILED,
}


@dataclass(frozen=True, slots=True)
class Polled:
    """What one poll brought, and how far that is.

    `revoked` partitions were so before any of the messages; `current` has, by partition whose end
    was reached once, the offset after its last message. `is_caught_up`: that is all of them.
    `has_joined`: the group has said which partitions these are, be it none.
    """

    messages: list[Message]
    revoked: frozenset[int]
    current: dict[int, int]
    is_caught_up: bool
    has_joined: bool = True


class OffsetsFeed:
    """The partitions of warren.offsets that this instance owns. For one thread at a time."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._topic = OFFSETS.full_name(settings.home.topic_prefix)
        self._look_back_ms = round(settings.collector.heartbeat * HEARTBEATS_BACK * 1000)
        self._clock = clock
        self._owned: set[int] = set()
        self._next: dict[int, int] = {}
        self._revoked: set[int] = set()
        self._committed: dict[int, int] = {}
        self._report = ErrorReporter(HOME, HOME)
        self._home = settings.home
        self._group = settings.home.installation.group("freshness", settings.freshness.group_id)
        self._backlog = GroupBacklog(self._home, self._group, self._topic)
        self._join()

    def _join(self) -> None:
        """By a consumer made anew."""
        self._joined = False
        self._consumer = group_consumer(
            HOME, HOME, self._home, self._group, self._report, on_commit=self._answered
        )
        self._is_closed = False
        self._catching_up = CatchingUp(self._consumer)
        self._rebalances = Rebalances(self._topic)
        self._rebalances.subscribe(self._consumer)
        self._hearing = hearing_of(self._consumer, self._topic, HOME, HOME, self._home, self._clock)

    def look(self) -> Look:
        """Look at what waits: behind what was polled or, without partitions, for the whole group,
        which this instance may have left without knowing. Call it in a thread of its own.

        Raises the classified error when the home cluster does not answer, or refuses.
        """
        backlog, owned, polled = self._backlog.read(), set(self._owned), dict(self._next)
        if not owned:
            return Look(sum(backlog.waiting.values()), tuple(sorted(backlog.committed.items())))
        behind = (
            max(backlog.ends.get(p, 0) - polled[p], 0) if p in polled else backlog.waiting.get(p, 0)
            for p in owned
        )
        return Look(sum(behind), tuple(sorted(polled.items())))

    def poll(self, timeout: float, used: Mapping[int, int]) -> Polled:
        """Messages that came within `timeout` seconds; commits what was used.

        Raises the classified error when the broker refuses, and begins anew: what was polled and
        not returned is read again. A broker that is away only delays.
        """
        try:
            if self._is_closed:
                self._join()
            return self._poll(timeout, used)
        except KafkaError:
            if not self._is_closed:
                self._give_up()
            raise

    def _poll(self, timeout: float, used: Mapping[int, int]) -> Polled:
        self._commit(used)
        messages: list[Message] = []
        polled = self._consumer.consume(BATCH, timeout)
        try:
            self._hearing.follow(heard=bool(polled), joined=self._joined)
        except ClientLost as lost:
            log_retry(lost)
            self._give_up()
            self._join()
        assigned = self._withdrawn_and_assigned()
        for message in polled:
            error, partition, offset = message.error(), message.partition(), message.offset()
            if error is not None and error.code() != Code._PARTITION_EOF:
                if error.fatal() or error.code() in _REFUSALS:
                    raise home_error(error)
                self._report(error)
            elif partition is None or offset is None or partition not in self._owned:
                continue
            elif error is None:
                messages.append(message)
                self._next[partition] = offset + 1
                self._catching_up.read((self._topic, partition), offset)
            else:
                self._catching_up.end([(self._topic, partition)])
                self._next[partition] = max(self._next.get(partition, offset), offset)
        if assigned is not None:  # only now: what was polled of them began elsewhere
            self._assign(assigned)
        revoked, self._revoked = self._revoked, set()
        return Polled(
            messages,
            frozenset(revoked),
            {
                partition: offset
                for partition, offset in self._next.items()
                if not self._catching_up.is_behind((self._topic, partition))
            },
            self._joined and self._catching_up.is_done,
            self._joined,
        )

    def close(self, used: Mapping[int, int]) -> None:
        """Commits what was used and leaves the group."""
        if not self._is_closed:
            self._commit(used)
            self._consumer.close()

    def _give_up(self) -> None:
        """Whatever was owned is another one's, or ours once more, and then read again."""
        self._withdraw(list(self._owned))
        self._consumer.close()
        self._is_closed = True

    def _commit(self, used: Mapping[int, int]) -> None:
        news = {
            partition: offset
            for partition, offset in used.items()
            if partition in self._owned and self._committed.get(partition) != offset
        }
        if not news:
            return
        self._committed |= news
        offsets = [TopicPartition(self._topic, p, offset) for p, offset in news.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            self._answered(error.args[0], offsets)

    def _answered(
        self, error: confluent_kafka.KafkaError | None, _offsets: list[TopicPartition]
    ) -> None:
        """What is not committed is said again; an instance that takes over reads it again."""
        if error is not None:
            self._committed.clear()
            log.info("positions not committed", problem=error.str())

    def _withdrawn_and_assigned(self) -> list[int] | None:
        """Forgets what the group took; what is new and still ours, None if it gave nothing."""
        assigned: set[int] = set()
        joined = False
        for rebalance in self._rebalances.take():
            if rebalance.kind == "assigned":
                joined = True
                assigned.update(rebalance.partitions)
            else:
                assigned.difference_update(rebalance.partitions)
                self._withdraw(rebalance.partitions)
        return sorted(assigned) if joined else None

    def _assign(self, numbers: list[int]) -> None:
        try:
            self._rebalances.begin_at(self._consumer, self._starts(numbers))
        except KafkaException as error:
            raise home_error(error.args[0]) from None
        self._joined = True
        self._owned.update(numbers)
        self._catching_up.begin((self._topic, number) for number in numbers)
        log.info("partitions assigned", partitions=numbers)

    def _starts(self, numbers: list[int]) -> dict[int, int]:
        """Where to start: two heartbeats back, or where the group stands if that is earlier."""
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        if not partitions:
            return {}
        try:
            stood = _known(self._consumer.committed(partitions, timeout=_TIMEOUT))
            # The end first: of events that come meanwhile none is passed over.
            ends = self._ask(partitions, OFFSET_END)
            recent = self._ask(partitions, self._clock.now_ms() - self._look_back_ms)
        except KafkaException as error:
            log.warning("where to start is unknown", problem=str(error.args[0]))
            # Where the group stands, else at the beginning: only slower.
            return dict.fromkeys(numbers, OFFSET_STORED)
        return {n: start_offset(stood[n], recent[n], ends[n]) for n in numbers}

    def _ask(self, partitions: list[TopicPartition], since: int) -> dict[int, int]:
        """Offset of the first event since then, by partition; negative: there is none."""
        times = [TopicPartition(self._topic, p.partition, since) for p in partitions]
        return _known(self._consumer.offsets_for_times(times, timeout=_TIMEOUT))

    def _withdraw(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._next.pop(number, None)
            self._committed.pop(number, None)
        self._owned.difference_update(numbers)
        self._catching_up.end((self._topic, number) for number in numbers)
        self._revoked.update(numbers)
        log.info("partitions revoked", partitions=sorted(numbers))


def _known(answers: list[TopicPartition]) -> dict[int, int]:
    """Offsets by partition. Raises KafkaException when one of them was not told."""
    for answer in answers:
        if answer.error is not None:
            raise KafkaException(answer.error)
    return {answer.partition: answer.offset for answer in answers}


def start_offset(committed: int, recent: int, end: int) -> int:
    """The earlier one of those that are known (negative: unknown), else the log's end."""
    return min((offset for offset in (committed, recent) if offset >= 0), default=end)
