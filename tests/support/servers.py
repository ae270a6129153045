"""Where the tests' servers come from: given, in containers, or embedded; and how they start."""

import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from support.waiting import eventually
from support.zookeeper import EmbeddedZookeeper
from warren.settings_file import load_settings
from warren_local.jars import KAFKA_JARS, ZOOKEEPER_JARS, JarSet, ensure_jars, find_java
from warren_local.kafka import (
    EmbeddedKafka,
    KafkaOptions,
    Listener,
    answers,
    server_properties,
)
from warren_local.server import PING, EmbeddedValkey, answers_with, free_port

KAFKA_IMAGE = "apache/kafka:4.3.0"
VALKEY_IMAGE = "valkey/valkey:9"
OFFSETS_PARTITIONS = 8  # fewer than in production: quicker to create and to read


class Provider(StrEnum):
    GIVEN = "given"
    CONTAINER = "container"
    EMBEDDED = "embedded"


def choose_provider(
    variable: str, environ: Mapping[str, str], docker_is_reachable: Callable[[], bool]
) -> Provider:
    """A server named by the variable wins; Docker is asked only when there is none."""
    if environ.get(variable):
        return Provider.GIVEN
    return Provider.CONTAINER if docker_is_reachable() else Provider.EMBEDDED


def docker_is_reachable() -> bool:
    """Whether containers may be used: something listens where Docker's clients look (DOCKER_HOST,
    else the usual socket), and WARREN_TEST_CONTAINERS=0 does not refuse them.
    """
    if os.environ.get("WARREN_TEST_CONTAINERS") == "0":
        return False
    address = urlsplit(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    try:
        if address.scheme == "unix":
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
                daemon.connect(address.path)
        else:
            socket.create_connection((address.hostname, address.port or 2375), timeout=5).close()
    except OSError:
        return False
    return True


def jars_directory(root: Path, jars: JarSet = KAFKA_JARS) -> Path:
    """Jars, shared with `warren up`: under the repository's .warren, or as set."""
    settings = load_settings(Path(os.devnull))
    local = settings.local.model_copy(update={"state_dir": str(root / settings.local.state_dir)})
    return ensure_jars(jars, settings.model_copy(update={"local": local}), Console(stderr=True))


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
    with (
        tempfile.TemporaryDirectory(prefix="warren-zookeeper-") as data,
        EmbeddedZookeeper(
            free_port(),
            java=find_java(os.environ),
            jars=jars_directory(root, ZOOKEEPER_JARS),
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
        eventually(lambda: answers_with(*PING, port, host), message=f"{VALKEY_IMAGE} answers")
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
