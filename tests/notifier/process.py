"""The service as a process, on topics of its own, and what it leaves on them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from confluent_kafka import Message
from notifier.builders import Folded
from support.waiting import eventually
from warren.contracts import DeadLetter, NotificationEvent, StatusChangeEvent, group_key
from warren.kafka.connection import connect
from warren.kafka.producer import EventProducer
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings
from warren_local.server import HOST, Child, free_port

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PARTITIONS = 4


@dataclass(frozen=True, slots=True)
class Home:
    """Topics of one test on the shared broker."""

    settings: HomeSettings
    folded: Folded = field(default_factory=Folded)

    @classmethod
    def create(cls, bootstrap: str, prefix: str) -> Home:
        home = HomeSettings(bootstrap=bootstrap, topic_prefix=f"{prefix}.", partitions=PARTITIONS)
        ensure_topics(connect("home", "home", home), home)
        return cls(home)

    def publish(self, *events: StatusChangeEvent | bytes) -> None:
        """Status changes and their incidents: acknowledged when this returns."""
        producer = EventProducer(self.settings)
        prefix = self.settings.topic_prefix
        topic = f"{prefix}incidents"
        for each in events:
            if isinstance(each, bytes):
                producer.send(topic, b"odd", each)
            elif (incident := self.folded.of(each)) is not None:
                key = group_key(incident.data.cluster, incident.data.group)
                producer.send(f"{prefix}lag-status", key, each.to_bytes(), each.headers)
                producer.send(topic, key, incident.to_bytes(), incident.headers)
        producer.flush()

    def records(self, topic: str) -> list[Message]:
        """All that is on a topic now."""
        name = self.settings.topic_prefix + topic
        reader = TopicReader(self.settings, [name])
        found: list[Message] = []
        try:
            while not reader.caught_up:
                found += reader.poll(0.2)
        finally:
            reader.close()
        return found

    def audit(self) -> list[NotificationEvent]:
        found = [NotificationEvent.from_bytes(r.value()) for r in self.records("notifications")]
        return sorted(found, key=lambda one: one.at)

    def dead_letters(self) -> list[DeadLetter]:
        return [DeadLetter.from_bytes(r.value()) for r in self.records("dead-letters")]

    def states(self) -> dict[bytes, bytes]:
        """State records that compaction will leave."""
        newest: dict[bytes, bytes | None] = {}
        for record in self.records("notifier-state"):
            newest[record.key() or b""] = record.value()
        return {key: value for key, value in newest.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Running:
    """A notifier's process."""

    child: Child
    metrics_port: int

    @property
    def ready(self) -> bool:
        try:
            return httpx.get(f"http://{HOST}:{self.metrics_port}/ready").status_code == 200
        except httpx.TransportError:
            return False

    @property
    def reason(self) -> str:
        """What /ready says."""
        return httpx.get(f"http://{HOST}:{self.metrics_port}/ready").text

    def metric(self, sample: str) -> float | None:
        """The value of a sample, written as it is exposed."""
        for line in httpx.get(f"http://{HOST}:{self.metrics_port}/metrics").text.splitlines():
            if line.startswith(f"{sample} "):
                return float(line.rpartition(" ")[2])
        return None

    def output(self) -> str:
        return self.child.log.read_text()


def config(folder: Path, home: Home, channels: str, routes: str = "") -> Path:
    """A warren.toml whose route sends everything to all channels of `channels` (TOML)."""
    names = [line.split(".")[-1].rstrip("]") for line in channels.splitlines() if line[:1] == "["]
    at_once = "group_wait = 0\ngroup_interval = 0.1\n"
    route = routes or f'[[notifier.routes]]\nname = "all"\nchannels = {names}\n{at_once}'
    file = folder / "warren.toml"
    file.write_text(
        f"""
[home]
bootstrap = "{home.settings.bootstrap}"
topic_prefix = "{home.settings.topic_prefix}"
partitions = {PARTITIONS}

[notifier]
allow_networks = ["127.0.0.0/8"]
flap_openings = 0

{route}
{channels}
"""
    )
    return file


def webhook(name: str, port: int, **more: object) -> str:
    extra = "".join(f"{key} = {value!r}\n" for key, value in more.items())
    url = f"http://127.0.0.1:{port}/{name}"
    return f"""[notifier.channels.{name}]
type = "webhook"
url = "{url}"
secret = "{SECRET}"
{extra}"""


def email(name: str, port: int) -> str:
    return f"""[notifier.channels.{name}]
type = "email"
host = "127.0.0.1"
port = {port}
tls = "none"
sender = "warren@example.org"
to = ["oncall@example.org"]
"""


# Nobody waits for as long as in production.
IMPATIENT = """
from warren_notifier import __main__, session
session.FIRST_RETRY, session.LONGEST_RETRY, session.SESSION_TIMEOUT = 0.1, 0.4, 3.0
__main__.main()
"""


@contextmanager
def notifier(file: Path, *, wait: bool = True, arguments: Sequence[str] = ()) -> Iterator[Running]:
    """A running notifier; killed at the end if the test has not stopped it."""
    port = free_port()
    environ = {**os.environ, "WARREN_NOTIFIER__METRICS_PORT": str(port)}
    command = [sys.executable, "-c", IMPATIENT, "--config", str(file), *arguments]
    child = Child(command, log=file.with_name(f"notifier-{port}.log"), environ=environ)
    running = Running(child, port)
    try:
        if wait:
            eventually(lambda: running.ready or child.exit_code() is not None, message="ready")
            assert child.exit_code() is None, running.output()
        yield running
    finally:
        child.kill()


def stop(running: Running) -> int:
    """Asks it to stop; its exit code."""
    running.child.ask_to_stop()
    eventually(lambda: running.child.exit_code() is not None, message="it ends")
    code = running.child.exit_code()
    assert code is not None
    return code
