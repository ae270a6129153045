"""server.properties of the embedded broker: one KRaft node, broker and controller in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warren_local.ports import HOST


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
