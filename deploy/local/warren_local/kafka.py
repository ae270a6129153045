"""An embedded Kafka broker: a real one, in one JVM, on the loopback address."""

import importlib.resources
import logging
import os
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import confluent_kafka
from confluent_kafka.admin import AdminClient
from warren.files import append_private, write_private

from warren_local.server import HOST, ProcessServer, ServerFailed, accepts_connections


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener besides the plain one; `protocol` as Kafka names it, e.g. SASL_PLAINTEXT."""

    port: int
    protocol: str


@dataclass(frozen=True, slots=True)
class KafkaOptions:
    """What may differ between embedded brokers."""

    port: int
    controller_port: int
    data_dir: Path
    heap: str = "512m"
    offsets_partitions: int = 50
    listeners: Mapping[str, Listener] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    """Any other broker property; wins over what is set here."""
    cluster_id: str = ""
    """What the data directory is formatted for; empty: a new one. Brokers of a cluster share it."""


class EmbeddedKafka(ProcessServer):
    """Formats once. Data stays in `options.data_dir`."""

    title = "Kafka"

    def __init__(self, options: KafkaOptions, *, java: Path, jars: Path, log: Path) -> None:
        super().__init__(options.port, log)
        self.options = options
        self._java = java
        self._jars = jars
        self._properties = options.data_dir / "server.properties"

    @property
    def bootstrap(self) -> str:
        """The plain listener, host:port."""
        return f"{HOST}:{self.options.port}"

    def prepare(self) -> None:
        """Write server.properties and, the first time, format the data directory (2 s)."""
        self.options.data_dir.mkdir(parents=True, exist_ok=True)
        write_private(self._properties, render(server_properties(self.options)))
        if (self.options.data_dir / "log" / "meta.properties").exists():
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        cluster_id = self.options.cluster_id or new_cluster_id()
        with os.fdopen(append_private(self.log), "ab") as output:
            done = subprocess.run(
                [
                    *self._jvm("-Xmx128m", "-XX:TieredStopAtLevel=1"),
                    "kafka.tools.StorageTool",
                    *("format", "-t", cluster_id, "-c", str(self._properties)),
                ],
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode != 0:
            raise ServerFailed("Kafka", "could not format its data directory", self.log)

    def command(self) -> list[str]:
        """The broker's command line, after `prepare`."""
        heap = self.options.heap
        # The quick compiler only: a third less CPU at start, which is what one waits for here.
        flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"]
        return [*self._jvm(f"-Xmx{heap}", *flags), "kafka.Kafka", str(self._properties)]

    def is_ready(self) -> bool:
        return accepts_connections(self.options.port) and answers(self.bootstrap)

    def _jvm(self, *flags: str) -> list[str]:
        log4j2 = str(importlib.resources.files("warren_local").joinpath("log4j2.properties"))
        return [
            str(self._java),
            *flags,
            "-Djava.awt.headless=true",
            f"-Dlog4j2.configurationFile={log4j2}",
            *("-cp", f"{self._jars}/*"),
        ]


def new_cluster_id() -> str:
    """A random id as Kafka writes them: 16 bytes in URL-safe base64, not starting with a dash.

    (With one, the format tool would take it for an option.)
    """
    random = bytearray(uuid.uuid4().bytes)
    random[0] &= 0x7F
    return urlsafe_b64encode(random).rstrip(b"=").decode()


def answers(bootstrap: str) -> bool:
    """Whether a broker answers a metadata request within a second."""
    quiet = logging.getLogger("warren_local.quiet")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    admin = AdminClient({"bootstrap.servers": bootstrap}, logger=quiet)
    try:
        return bool(admin.list_topics(timeout=1).brokers)
    except confluent_kafka.KafkaException:
        return False


def server_properties(options: KafkaOptions) -> dict[str, str]:
    """The broker's properties."""
    listeners = {
        "PLAINTEXT": Listener(options.port, "PLAINTEXT"),
        "CONTROLLER": Listener(options.controller_port, "PLAINTEXT"),
        **options.listeners,
    }
    addresses = {name: f"{name}://{HOST}:{at.port}" for name, at in listeners.items()}
    advertised = [address for name, address in addresses.items() if name != "CONTROLLER"]
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        # Static voters: the controller's port may change between two runs on the same data.
        "controller.quorum.voters": f"1@{HOST}:{options.controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(addresses.values()),
        "advertised.listeners": ",".join(advertised),
        "listener.security.protocol.map": ",".join(
            f"{name}:{at.protocol}" for name, at in listeners.items()
        ),
        "log.dirs": str(options.data_dir / "log"),
        "auto.create.topics.enable": "false",
        "num.partitions": "1",
        "default.replication.factor": "1",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": str(options.offsets_partitions),
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        # A lone developer's groups form at once; a session may be as short as a test likes.
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "1000",
        "group.consumer.min.session.timeout.ms": "1000",
        "group.consumer.session.timeout.ms": "6000",
        "group.consumer.heartbeat.interval.ms": "2000",
        "group.consumer.min.heartbeat.interval.ms": "500",
        # Compacted state topics stay small within minutes, and the cleaner's buffer is modest.
        "log.cleaner.backoff.ms": "5000",
        # Kafka's five minutes are long for the demo's topic that is kept for one minute.
        "log.retention.check.interval.ms": "5000",
        "log.cleaner.dedupe.buffer.size": str(16 * 2**20),
        "message.max.bytes": str(8 * 2**20),
        "replica.fetch.max.bytes": str(8 * 2**20),
        **options.properties,
    }


def render(properties: Mapping[str, str]) -> str:
    """Text of a Java properties file."""
    return "".join(f"{name}={_escaped(text)}\n" for name, text in properties.items())


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
