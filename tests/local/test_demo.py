"""The demo begins at once, where it is told to; `tests/end_to_end` sees what its groups show."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from conftest import Broker
from warren.errors import SettingsError
from warren.settings import KafkaConnection, Settings
from warren_local.demo.topics import DemoTopic, Feed, prepare_topics
from warren_local.demo.workload import Gate, demo_connection
from warren_local.server import free_port


class Leaderless(AdminClient):
    """Asked for offsets, it looks for the leaders where it has them from, as librdkafka does: those
    of a new topic are there once somebody asked for that topic.
    """

    def __init__(self, bootstrap: str) -> None:
        super().__init__({"bootstrap.servers": bootstrap})
        self.known: set[str | None] = set()

    def list_topics(self, topic: str | None = None, timeout: float = 30) -> Any:
        self.known.add(topic)
        return super().list_topics(topic, timeout=timeout)

    def list_offsets(self, wanted: dict[TopicPartition, Any], **more: Any) -> Any:
        if {place.topic for place in wanted} - self.known:
            raise KafkaException(KafkaError(KafkaError._NOENT, "No leaders found"))
        return super().list_offsets(wanted, **more)


def test_topics_are_filled_where_their_leaders_were_not_known(broker: Broker, unique: str) -> None:
    topics = [DemoTopic(f"{unique}-{name}", 4, 2) for name in ("one", "two")]
    feed = Feed("demo", "clusters.demo", KafkaConnection(bootstrap=broker.bootstrap))
    prepare_topics(Leaderless(broker.bootstrap), feed, topics)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique})
    places = [TopicPartition(topic.name, number) for topic in topics for number in range(4)]
    ends = [consumer.get_watermark_offsets(place, 30) for place in places]
    consumer.close()
    assert ends == [(0, 2)] * len(places)


def test_the_demo_goes_where_it_is_told() -> None:
    tables = {"home": {"bootstrap": "h:1"}, "clusters": {"demo": {"bootstrap": "d:1"}}}
    settings = Settings.model_validate(tables)
    assert demo_connection(settings, "demo", None).bootstrap == "d:1"
    assert demo_connection(settings, "other", None).bootstrap == "h:1"
    assert demo_connection(settings, "other", "x:1").bootstrap == "x:1"
    with pytest.raises(SettingsError, match=r"^--bootstrap: "):
        demo_connection(settings, "other", "x")


def test_an_address_keeps_the_security_of_the_cluster_of_that_name() -> None:
    secured = {"bootstrap": "d:1", "kafka": {"sasl.password": "secret"}}
    settings = Settings.model_validate({"clusters": {"demo": secured}})
    connection = demo_connection(settings, "demo", "x:1")
    assert connection.librdkafka() == {"bootstrap.servers": "x:1", "sasl.password": "secret"}


@pytest.fixture
def door() -> Iterator[tuple[str, threading.Event]]:
    """A URL that answers 503 until the event is set."""
    is_open = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if is_open.is_set() else 503)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/ready", is_open
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_gate_opens_when_the_collector_is_ready(door: tuple[str, threading.Event]) -> None:
    url, is_open = door
    assert Gate(url).wait(threading.Event(), patience=0.4) is False
    is_open.set()
    assert Gate(url).wait(threading.Event()) is True


def test_the_gate_does_not_hold_up_a_stop() -> None:
    stop = threading.Event()
    stop.set()
    assert Gate(f"http://127.0.0.1:{free_port()}/ready").wait(stop) is False
