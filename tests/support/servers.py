"""Starting of the tests' servers, one function per provider."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from support.waiting import eventually
from warren.settings_file import load_settings
from warren_local.jars import ensure_jars, ensure_spark_jars, ensure_zookeeper_jars
from warren_local.java import find_java
from warren_local.kafka import EmbeddedKafka, answers
from warren_local.kafka_properties import KafkaOptions, Listener, server_properties
from warren_local.ports import free_port
from warren_local.valkey import EmbeddedValkey, answers_ping
from warren_local.zookeeper import EmbeddedZookeeper

KAFKA_IMAGE = "apache/kafka:4.3.0"
VALKEY_IMAGE = "valkey/valkey:9"
OFFSETS_PARTITIONS = 8  # fewer than in production: quicker to create and to read


def jars_directory(root: Path) -> Path:
    """The broker's jars, shared with `warren up`: under the repository's .warren, or as set."""
    local = load_settings(Path(os.devnull)).local
    at_root = local.model_copy(update={"state_dir": str(root / local.state_dir)})
    return ensure_jars(at_root, Console(stderr=True))


def spark_jars_directory(root: Path) -> Path:
    """Likewise the jars of the archiver's Spark."""
    settings = load_settings(Path(os.devnull))
    local = settings.local.model_copy(update={"state_dir": str(root / settings.local.state_dir)})
    return ensure_spark_jars(settings.model_copy(update={"local": local}), Console(stderr=True))


@contextmanager
def embedded_kafka(
    root: Path,
    logs: Path,
    *,
    listeners: dict[str, Listener] | None = None,
    properties: dict[str, str] | None = None,
    port: int = 0,
) -> Iterator[EmbeddedKafka]:
    """A running broker of one's own, with other listeners or properties if need be. Port 0: any."""
    with tempfile.TemporaryDirectory(prefix="warren-kafka-") as data:
        options = KafkaOptions(
            port=port or free_port(),
            controller_port=free_port(),
            data_dir=Path(data),
            offsets_partitions=OFFSETS_PARTITIONS,
            listeners=listeners or {},
            properties=properties or {},
        )
        with EmbeddedKafka(
            options,
            java=find_java(os.environ),
            jars=jars_directory(root),
            log=logs / "kafka.log",
        ) as kafka:
            yield kafka


@contextmanager
def embedded_valkey(logs: Path) -> Iterator[str]:
    """A running Valkey; its URL."""
    with (
        tempfile.TemporaryDirectory(prefix="warren-valkey-") as data,
        EmbeddedValkey(free_port(), data_dir=Path(data), log=logs / "valkey.log") as valkey,
    ):
        yield valkey.url


@contextmanager
def embedded_zookeeper(root: Path, logs: Path) -> Iterator[EmbeddedZookeeper]:
    """A running ZooKeeper."""
    local = load_settings(Path(os.devnull)).local
    at_root = local.model_copy(update={"state_dir": str(root / local.state_dir)})
    with (
        tempfile.TemporaryDirectory(prefix="warren-zookeeper-") as data,
        EmbeddedZookeeper(
            free_port(),
            java=find_java(os.environ),
            jars=ensure_zookeeper_jars(at_root, Console(stderr=True)),
            data_dir=Path(data),
            log=logs / "zookeeper.log",
        ) as zookeeper,
    ):
        yield zookeeper


@contextmanager
def container_kafka() -> Iterator[str]:
    """A broker in a container; its bootstrap servers."""
    from testcontainers.core.container import DockerContainer

    bootstrap = f"{docker_hostname(os.environ)}:{(port := free_port())}"
    container = DockerContainer(KAFKA_IMAGE).with_bind_ports(9092, port)
    for name, value in container_properties(bootstrap).items():
        container = container.with_env(environment_name(name), value)
    with container:
        eventually(lambda: answers(bootstrap), timeout=120, message=f"{KAFKA_IMAGE} answers")
        yield bootstrap


@contextmanager
def container_valkey() -> Iterator[str]:
    """A Valkey in a container; its URL."""
    from testcontainers.core.container import DockerContainer

    host, port = docker_hostname(os.environ), free_port()
    with DockerContainer(VALKEY_IMAGE).with_bind_ports(6379, port):
        eventually(lambda: answers_ping(port, host), message=f"{VALKEY_IMAGE} answers")
        yield f"redis://{host}:{port}/0"


def container_properties(bootstrap: str) -> dict[str, str]:
    """The embedded broker's properties, but listening to the container's outside.

    Clients come by the address `bootstrap`, the broker itself by a listener of its own: its
    clients' address means nothing inside the container.
    """
    options = KafkaOptions(
        port=9092,
        controller_port=9093,
        data_dir=Path("/tmp/kafka"),
        offsets_partitions=OFFSETS_PARTITIONS,
        listeners={"BROKER": Listener(9094, "PLAINTEXT")},
        properties={
            "listeners": "PLAINTEXT://0.0.0.0:9092,CONTROLLER://:9093,BROKER://:9094",
            "advertised.listeners": f"PLAINTEXT://{bootstrap},BROKER://127.0.0.1:9094",
            "inter.broker.listener.name": "BROKER",
        },
    )
    return server_properties(options)


def docker_hostname(environ: Mapping[str, str]) -> str:
    """Where the ports of containers are: the daemon's machine, else this one."""
    address = urlsplit(environ.get("DOCKER_HOST", ""))
    return address.hostname if address.scheme == "tcp" and address.hostname else "127.0.0.1"


def environment_name(kafka_property: str) -> str:
    """The variable by which Kafka's official image takes a broker property."""
    escaped = kafka_property.replace("_", "__").replace("-", "___").replace(".", "_")
    return f"KAFKA_{escaped.upper()}"
