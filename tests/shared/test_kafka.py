"""The Kafka wrapper on a real broker."""

import threading
from typing import Any

import pytest
from confluent_kafka import KafkaError as Code, KafkaException, Producer
from confluent_kafka.admin import NewTopic
from support.busy_writer import BEFORE, busy_writer
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts.topics import CATALOGUE
from warren.errors import (
    AuthenticationFailed,
    AuthorizationFailed,
    ClusterUnreachable,
    KafkaError,
    PublishFailed,
    SettingsError,
    TopicMisconfigured,
    TopicMissing,
)
from warren.kafka.connection import await_connection, classify, connect
from warren.kafka.producer import EventProducer
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import check_topics, ensure_topics
from warren.settings import HomeSettings, KafkaConnection

NOWHERE = KafkaConnection(bootstrap="127.0.0.1:1")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (Code._AUTHENTICATION, AuthenticationFailed),
        (Code.SASL_AUTHENTICATION_FAILED, AuthenticationFailed),
        (Code.TOPIC_AUTHORIZATION_FAILED, AuthorizationFailed),
        (Code.UNKNOWN_TOPIC_OR_PART, TopicMissing),
        (Code._TRANSPORT, ClusterUnreachable),
        (Code._ALL_BROKERS_DOWN, ClusterUnreachable),
    ],
)
def test_errors_are_classified(code: int, expected: type[KafkaError]) -> None:
    error = classify("prod", "clusters.prod", Code(code))
    assert type(error) is expected
    assert error.cluster == "prod"
    assert error.setting.startswith("clusters.prod")


def test_nobody_there() -> None:
    with pytest.raises(ClusterUnreachable, match=r"127\.0\.0\.1:1 \(see home\.bootstrap\)"):
        connect("home", "home", NOWHERE, timeout=0.5)


def test_unknown_property() -> None:
    connection = KafkaConnection(bootstrap="127.0.0.1:1", kafka={"no.such.property": "1"})  # type: ignore[dict-item]  # as TOML gives it
    with pytest.raises(SettingsError, match=r"no\.such\.property"):
        connect("prod", "clusters.prod", connection)


def test_waiting_ends_when_told_to_stop() -> None:
    stop = threading.Event()
    stop.set()
    assert await_connection("home", "home", NOWHERE, stop, timeout=0.2) is None


def _values(reader: TopicReader) -> list[str]:
    records = []
    while not reader.caught_up:
        records += reader.poll(0.2)
    reader.close()
    return sorted((record.value() or b"").decode() for record in records)


class TestOnABroker:
    def test_waiting_ends_when_the_cluster_answers(self, broker: Any) -> None:
        connection = KafkaConnection(bootstrap=broker.bootstrap)
        assert await_connection("home", "home", connection, threading.Event()) is not None

    def test_topics_are_created_once_and_as_the_catalogue_says(
        self, broker: Any, unique: str
    ) -> None:
        home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=3)
        admin = connect("home", "home", home)
        assert len(check_topics(admin, home).problems) == len(CATALOGUE)
        assert len(ensure_topics(admin, home)) == len(CATALOGUE)
        assert ensure_topics(admin, home) == []
        assert check_topics(admin, home).problems == []

    def test_a_topic_that_differs_is_reported(self, broker: Any, unique: str) -> None:
        home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=3)
        admin = connect("home", "home", home)
        odd = NewTopic(f"{unique}.lag", 5, 1, config={"retention.ms": "1000"})
        admin.create_topics([odd])[f"{unique}.lag"].result()
        ensure_topics(admin, home)
        problems = " ".join(check_topics(admin, home).problems)
        assert "retention.ms is 1000" in problems
        assert "cleanup.policy is delete" in problems
        assert "(3, 5)" in problems

    def test_more_replicas_than_brokers(self, broker: Any, unique: str) -> None:
        home = HomeSettings(
            bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", replication_factor=9
        )
        with pytest.raises(TopicMisconfigured, match=unique):
            ensure_topics(connect("home", "home", home), home)

    def test_a_partition_that_is_written_to_all_the_time_is_caught_up_with(
        self, broker: Any, unique: str
    ) -> None:
        """Never does its end last for as long as librdkafka waits before it tells of one."""
        home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=1)
        ensure_topics(connect("home", "home", home), home)
        read: list[str] = []
        with busy_writer(home, f"{unique}.lag"):
            reader = TopicReader(home, [f"{unique}.lag"])

            def is_caught_up() -> bool:
                read.extend((record.value() or b"").decode() for record in reader.poll(0.2))
                return reader.caught_up

            eventually(is_caught_up, message="what was there is read")
            reader.close()
        assert read[:BEFORE] == [str(number) for number in range(BEFORE)]

    @pytest.mark.smoke
    def test_reading_is_from_a_time_on_or_until_an_offset(self, broker: Any, unique: str) -> None:
        """A partition without a newer record is read from its end on: nothing is left out."""
        home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=3)
        ensure_topics(connect("home", "home", home), home)
        name = f"{unique}.trends"
        producer = Producer({"bootstrap.servers": broker.bootstrap})

        def send(partition: int, at: int, value: str) -> None:
            producer.produce(name, value, partition=partition, timestamp=at)
            producer.flush()

        now = SystemClock().now_ms()
        old, new = now - 7_200_000, now - 1_000
        send(0, old, "0 old")
        send(0, new, "0 new")
        send(1, old, "1 old")

        def reader() -> TopicReader | None:
            try:
                return TopicReader(home, [name], since=now - 3_600_000)
            except ClusterUnreachable:
                return None  # nothing was sent to the third partition: it may have no leader yet

        newest = eventually(reader, message="every partition has a leader")
        for partition in range(3):
            send(partition, now, f"{partition} now")
        assert _values(newest) == ["0 new", "0 now", "1 now", "2 now"]

    def test_reading_what_is_not_there(self, broker: Any, unique: str) -> None:
        with pytest.raises(TopicMissing):
            TopicReader(HomeSettings(bootstrap=broker.bootstrap), [unique])

    def test_a_record_that_cannot_be_stored_is_an_error(self, broker: Any, unique: str) -> None:
        connection = KafkaConnection(bootstrap=broker.bootstrap)
        small = NewTopic(unique, 1, 1, config={"max.message.bytes": "100"})
        admin = connect("home", "home", connection)  # one that is let go never answers
        admin.create_topics([small])[unique].result()
        producer = EventProducer(connection)
        producer.send(unique, b"k", bytes(range(256)) * 10)
        with pytest.raises(PublishFailed):
            producer.flush()
        producer.send(unique, b"k", b"small")
        producer.flush()


class RefusedClient:
    """A producer whose broker has refused it for good: every call says so, some again and again."""

    def produce(self, *_: object, **__: object) -> None:
        raise BufferError

    def poll(self, _timeout: float) -> None:
        self.flush()

    def flush(self, *_: object) -> None:
        raise KafkaException(Code(Code.CLUSTER_AUTHORIZATION_FAILED, "no", True))


@pytest.mark.parametrize("call", ["send", "flush"])
def test_a_producer_that_was_refused_for_good_is_begun_anew(
    call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = EventProducer(NOWHERE)
    monkeypatch.setattr(producer, "_producer", RefusedClient())
    with pytest.raises(PublishFailed, match="not acknowledged: no"):
        producer.send("topic", b"key", b"value") if call == "send" else producer.flush()
    producer.flush()  # nothing is queued, and nobody refuses
