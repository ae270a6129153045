"""The demo's mailbox and its webhook receiver."""

import json
import smtplib
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from conftest import Broker
from standardwebhooks import Webhook
from support.waiting import eventually
from warren.errors import SettingsError
from warren.settings import KafkaConnection, Settings
from warren_local.arrivals import Arrivals, ArrivalsFollower
from warren_local.demo.topics import DemoTopic, Feed, prepare_topics
from warren_local.demo.workload import Gate, demo_connection
from warren_local.mailbox import Mailbox
from warren_local.server import HOST, Child, accepts_connections, free_port
from warren_local.webhook_receiver import WebhookReceiver

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = {"data": {"cluster": "prod", "group": "billing", "previous": "OK", "status": "ERR"}}


def send(port: int) -> None:
    message = EmailMessage()
    message["Subject"] = "[ERR] Größe"
    message["Message-ID"] = "<1@example.org>"
    message["References"] = "<0@example.org>"
    message["X-Warren-Delivery"] = "d"
    message.set_content("Text über alles\n")
    message.add_alternative("<p>HTML</p>\n", subtype="html")
    with smtplib.SMTP(HOST, port, local_hostname="localhost") as client:
        client.send_message(message, "from@example.org", ["a@example.org", "b@example.org"])


def post(port: int, secret: str = SECRET, age: timedelta = timedelta()) -> int:
    at = datetime.now(UTC) - age
    body = json.dumps(EVENT)
    headers = {
        "webhook-id": "d",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign("d", at, body),
    }
    return httpx.post(f"http://{HOST}:{port}/x", content=body, headers=headers).status_code


def test_mails_are_kept_written_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    arrivals = Arrivals(tmp_path / "mails.jsonl", told.append)
    with Mailbox(free_port(), arrivals) as mailbox:
        send(mailbox.port)
    (kept,) = arrivals.all
    (written,) = (tmp_path / "mails.jsonl").read_text().splitlines()
    assert json.loads(written) == kept
    assert {name: text for name, text in kept.items() if name != "at"} == {
        "from": "from@example.org",
        "to": "a@example.org, b@example.org",
        "subject": "[ERR] Größe",
        "message_id": "<1@example.org>",
        "references": "<0@example.org>",
        "delivery_id": "d",
        "text": "Text über alles\n",
        "html": "<p>HTML</p>\n",
    }
    assert told == ["mail to a@example.org, b@example.org: [ERR] Größe"]
    follower = ArrivalsFollower(tmp_path / "mails.jsonl")
    assert [follower.new_headlines() for _ in range(2)] == [told, []]


def test_signatures_of_webhooks_are_verified_and_everything_is_kept() -> None:
    told: list[str] = []
    arrivals = Arrivals(tell=told.append)
    with WebhookReceiver(free_port(), SECRET, arrivals) as receiver:
        assert post(receiver.port) == 204
        assert post(receiver.port, "whsec_" + "A" * 32) == 401
        assert post(receiver.port, age=timedelta(hours=1)) == 401
        assert httpx.post(f"http://{HOST}:{receiver.port}/", content=b"\xff").status_code == 401
    assert [arrival["verified"] for arrival in arrivals.all] == [True, False, False, False]
    assert (arrivals.all[0]["webhook_id"], arrivals.all[0]["event"]) == ("d", EVENT)
    assert told[0] == "webhook, signature verified: billing on prod went from OK to ERR"
    assert "too old" in told[2]
    assert "refused" in told[3]


@pytest.mark.parametrize(
    ("module", "options", "sent", "told"),
    [
        ("mailbox", (), send, "mail to a@example.org"),
        ("webhook_receiver", ("--secret", SECRET), post, "signature verified"),
    ],
)
def test_as_a_process(
    tmp_path: Path, module: str, options: tuple[str, ...], sent: Callable[[int], object], told: str
) -> None:
    port, out = free_port(), tmp_path / "arrived.jsonl"
    command = [sys.executable, "-m", f"warren_local.{module}", "--port", str(port), *options]
    children = [Child([*command, "--out", str(out)], log=tmp_path / "log")]
    try:
        eventually(lambda: accepts_connections(port), message="it listens")
        sent(port)
        assert len(out.read_text().splitlines()) == 1
        children.append(second := Child(command, log=tmp_path / "second"))
        assert eventually(lambda: second.exit_code() is not None, message="the second one ends")
        assert second.exit_code() == 1
        assert "choose another port" in (tmp_path / "second").read_text()
        children[0].ask_to_stop()
        eventually(lambda: children[0].exit_code() is not None, message="it ends")
        assert children[0].exit_code() == 0
    finally:
        for child in children:
            child.kill()
    assert told in (tmp_path / "log").read_text()


# The demo begins at once, where it is told to; `tests/end_to_end` sees what its groups show.


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
