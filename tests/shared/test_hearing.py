"""Clients that have lost all brokers are found out; those that only hear nothing are left alone."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.forgetful_broker import ASKS_EVERY, ForgetfulBroker
from support.manual_clock import ManualClock
from support.waiting import eventually, until
from warren.errors import ClientLost, PublishFailed
from warren.kafka.batched_writer import BatchedWriter, Record
from warren.kafka.hearing import (
    AGAIN_SECONDS,
    JOIN_SECONDS,
    QUIET_SECONDS,
    RENEWED_SECONDS,
    Hearing,
    asking_client,
    hearing_by,
)
from warren.settings import KafkaConnection


class Played:
    """A client and its cluster: whether they answer."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.client = self.cluster = True
        self.client_answers_late = False
        self.asked: list[str] = []
        self.login_version = 1
        self.hearing = Hearing(
            "prod",
            "clusters.prod",
            self._ask,
            self._ask_anew,
            self.clock,
            lambda: self.login_version,
        )

    def _ask(self, _timeout: float) -> bool:
        self.asked.append("client")
        is_late = self.client_answers_late and self.asked.count("client") > 1
        return self.client or is_late

    def _ask_anew(self) -> bool:
        self.asked.append("cluster")
        return self.cluster

    def polls(self, seconds: float, *, heard: bool = False, joined: bool = True) -> None:
        """A poll after that time."""
        self.clock.advance(seconds)
        self.hearing.follow(heard=heard, joined=joined)


@pytest.fixture
def played() -> Played:
    return Played()


def test_who_hears_something_is_not_asked(played: Played) -> None:
    for _ in range(5):
        played.polls(QUIET_SECONDS - 1, heard=True)
    assert played.asked == []


def test_silence_alone_is_no_loss(played: Played) -> None:
    for _ in range(5):
        played.polls(QUIET_SECONDS)
    assert played.asked == ["client"] * 5


def test_a_client_that_knows_no_broker_though_one_answers_is_lost(played: Played) -> None:
    played.client = False
    played.polls(QUIET_SECONDS - 1)
    with pytest.raises(ClientLost, match="cluster prod: our client has lost all brokers"):
        played.polls(1)
    assert played.asked == ["client", "cluster", "client"]


def test_nobody_is_lost_while_the_cluster_is_away(played: Played) -> None:
    played.client = played.cluster = False
    played.polls(QUIET_SECONDS)
    played.polls(AGAIN_SECONDS - 1)
    assert played.asked == ["client", "cluster"]
    played.polls(1)
    played.cluster = True
    with pytest.raises(ClientLost):
        played.polls(AGAIN_SECONDS)


def test_a_client_that_comes_back_a_moment_later_is_not_lost(played: Played) -> None:
    played.client, played.client_answers_late = False, True
    played.polls(QUIET_SECONDS)
    assert played.asked == ["client", "cluster", "client"]


def test_who_has_no_partitions_for_longer_than_any_rebalance_is_lost(played: Played) -> None:
    while played.clock.monotonic() < JOIN_SECONDS - QUIET_SECONDS:
        played.polls(QUIET_SECONDS, joined=False)
    with pytest.raises(ClientLost, match="no partitions"):
        played.polls(QUIET_SECONDS, joined=False)


def test_a_client_with_old_credentials_is_made_anew_once_it_is_not_answered(
    played: Played,
) -> None:
    played.login_version = 2
    played.polls(RENEWED_SECONDS)
    played.polls(RENEWED_SECONDS, heard=True)
    assert played.asked == ["client"], "its connections are open still"
    played.client = played.cluster = False
    played.polls(RENEWED_SECONDS - 1)
    played.polls(1)
    played.cluster = True
    with pytest.raises(ClientLost, match="has credentials that were renewed since"):
        played.polls(RENEWED_SECONDS)


def test_librdkafka_forgets_its_brokers_for_good(forgetful: ForgetfulBroker) -> None:
    """Were it not so any more, all this would be needless."""
    admin = AdminClient({"bootstrap.servers": forgetful.bootstrap, "log_level": 0})
    admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(30)
    consumer = Consumer(
        {
            "bootstrap.servers": forgetful.bootstrap,
            "client.id": "forgetting",
            "group.id": "readers",
            "log_level": 0,
            **ASKS_EVERY,
            # Neither keeps it from forgetting, nor brings the brokers back.
            "metadata.recovery.strategy": "rebootstrap",
            "metadata.recovery.rebootstrap.trigger.ms": 100,
        }
    )
    connection = KafkaConnection(bootstrap=forgetful.bootstrap)
    clock, asking = ManualClock(), asking_client(consumer, "orders")
    hearing = hearing_by(asking, "prod", "clusters.prod", connection, clock)
    consumer.assign([TopicPartition("orders", 0, 0)])

    def knows_its_coordinator() -> bool:
        try:
            return bool(consumer.committed([TopicPartition("orders", 0)], timeout=30))
        except KafkaException as error:  # so says a broker that has only just started
            if error.args[0].code() != KafkaError.NOT_COORDINATOR:
                raise
            return False

    try:
        eventually(knows_its_coordinator, message="its coordinator is known")
        clock.advance(QUIET_SECONDS)
        hearing.follow(heard=False)
        with forgetful.forgetting("forgetting"):
            eventually(lambda: not asking(3), message="it has lost all brokers")

        def is_lost() -> bool:
            consumer.poll(0)
            clock.advance(QUIET_SECONDS)
            try:
                hearing.follow(heard=False)
            except ClientLost:
                return True
            return False

        eventually(is_lost, message="it is found out")
    finally:
        consumer.close()


# The batched writer: acknowledged or an error.


class Broker:
    """A producer whose acknowledgements can be held back or refused."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.flushes = 0
        self.answers = threading.Event()
        self.answers.set()
        self.refuses = False

    def send(self, topic: str, key: bytes | None, value: bytes | None, *, partition: int) -> None:
        del key, value, partition
        self.sent.append(topic)

    def flush(self) -> None:
        self.flushes += 1
        self.answers.wait()
        if self.refuses:
            raise PublishFailed("home", "home", "not acknowledged")


def record(name: str) -> Record:
    return Record(name, 0, b"k", b"v")


def beside(play: Callable[..., Awaitable[None]]) -> Broker:
    """The broker, after `play` beside a writer that runs."""
    broker = Broker()

    async def run() -> None:
        writer = BatchedWriter(broker)
        running = asyncio.create_task(writer.run())
        await play(broker, writer, running)
        running.cancel()
        writer.close()

    asyncio.run(run())
    return broker


def test_those_that_come_meanwhile_share_a_round_trip() -> None:
    async def play(broker: Broker, writer: BatchedWriter, _: object) -> None:
        broker.answers.clear()
        first = asyncio.create_task(writer.write([record("0")]))
        await until(lambda: broker.flushes == 1)
        others = [asyncio.create_task(writer.write([record(str(n))])) for n in range(1, 5)]
        drained = asyncio.create_task(writer.drain())
        await asyncio.sleep(0)
        assert not first.done()
        broker.answers.set()
        await asyncio.gather(first, *others, drained)
        await writer.write([])

    broker = beside(play)
    assert broker.sent == ["0", "1", "2", "3", "4"]
    assert broker.flushes == 2


def test_a_refusal_ends_it_and_acknowledges_nothing() -> None:
    async def play(broker: Broker, writer: BatchedWriter, running: asyncio.Task[None]) -> None:
        broker.refuses = True
        writing = asyncio.create_task(writer.write([record("0")]))
        with pytest.raises(PublishFailed):
            await running
        assert not writing.done()
        writing.cancel()

    beside(play)


def test_a_writer_that_gave_up_waiting_does_no_harm() -> None:
    async def play(broker: Broker, writer: BatchedWriter, _: object) -> None:
        broker.answers.clear()
        writing = asyncio.create_task(writer.write([record("0")]))
        await until(lambda: broker.flushes == 1)
        writing.cancel()
        broker.answers.set()
        await writer.write([record("1")])

    assert beside(play).sent == ["0", "1"]
