"""An embedded Kafka broker: a real one, in one JVM, on the loopback address."""

from __future__ import annotations

import importlib.resources
import logging
import os
import subprocess
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path

import confluent_kafka
from confluent_kafka.admin import AdminClient
from warren.private_files import append_private, write_private

from warren_local.child import STOP_GRACE, Child
from warren_local.errors import ServerFailed
from warren_local.kafka_properties import KafkaOptions, render, server_properties
from warren_local.ports import HOST, accepts_connections
from warren_local.readiness import await_ready
from warren_local.server import Server

START_TIMEOUT = 60.0  # seconds; a loaded machine may need long, 3 s is usual


class EmbeddedKafka(Server):
    """Format once, start, wait until it answers, stop. Data stays in `options.data_dir`."""

    def __init__(
        self,
        options: KafkaOptions,
        *,
        java: Path,
        jars: Path,
        log: Path,
        written_classes: Path | None = None,
    ) -> None:
        """`written_classes` is the file to which the broker, when it stops, writes its classes."""
        self.options = options
        self.log = log
        self._written_classes = written_classes
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
        if self._written_classes is not None:
            flags.append(f"-XX:ArchiveClassesAtExit={self._written_classes}")
        return [*self._jvm(f"-Xmx{heap}", *flags), "kafka.Kafka", str(self._properties)]

    def start(self) -> None:
        """Start and wait until it answers; raises ServerFailed."""
        self.prepare()
        self._child = Child(self.command(), log=self.log)
        try:
            await_ready("Kafka", self._child, self.is_ready, timeout=START_TIMEOUT)
        except ServerFailed:
            self.stop()
            raise

    def is_ready(self) -> bool:
        """Whether a broker answers at the port."""
        return accepts_connections(self.options.port) and answers(self.bootstrap)

    def stop(self, grace: float = STOP_GRACE) -> None:
        """Stop it, within `grace` seconds; no harm when it does not run."""
        if self._child is not None:
            self._child.stop(grace)
            self._child = None

    def _jvm(self, *flags: str) -> list[str]:
        log4j2 = str(importlib.resources.files("warren_local").joinpath("log4j2.properties"))
        return [
            str(self._java),
            *flags,
            *self._read_classes(),
            "-Djava.awt.headless=true",
            f"-Dlog4j2.configurationFile={log4j2}",
            *("-cp", f"{self._jars}/*"),
        ]

    def _read_classes(self) -> list[str]:
        """Java passes over an archive that other jars or another Java made."""
        archive = class_archive(self._jars)
        is_there = archive.is_file() and self._written_classes is None
        return [f"-XX:SharedArchiveFile={archive}"] if is_there else []


def class_archive(jars: Path) -> Path:
    """Where the broker's classes are kept as Java has them in memory, if anywhere."""
    return jars.with_name(f"{jars.name}.jsa")


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
