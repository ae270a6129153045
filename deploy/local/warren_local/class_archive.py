"""Kafka's classes, read and verified once: brokers that find them start with a third less CPU."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rich.console import Console
from warren.errors import WarrenError
from warren.settings_file import load_settings

from warren_local.jar_sets import KAFKA_JARS
from warren_local.jars import ensure_jars
from warren_local.java import find_java
from warren_local.kafka import EmbeddedKafka, KafkaOptions, class_archive
from warren_local.ports import free_port
from warren_local.state_folder import LOGS

WRITING = 120.0  # seconds at most, after the broker has stopped; 5 s are usual


def ensure_class_archive(jars: Path, java: Path, log: Path) -> None:
    """Let a broker live for a moment and write what it loaded, unless that is there.

    Raises ServerFailed when the broker does not start.
    """
    archive = class_archive(jars)
    if archive.is_file() and archive.stat().st_mtime >= jars.stat().st_mtime:
        return
    with tempfile.TemporaryDirectory(prefix="class-archive-", dir=jars.parent) as directory:
        written = Path(directory) / archive.name
        options = KafkaOptions(free_port(), free_port(), Path(directory) / "kafka")
        with EmbeddedKafka(options, java=java, jars=jars, log=log, written_classes=written) as one:
            one.stop(WRITING)
        if written.is_file():
            written.replace(archive)


def main() -> None:
    """`python -m warren_local.class_archive`: what `make test` runs. Without one it is slower."""
    console = Console(stderr=True)
    try:
        settings = load_settings(None)
        if not settings.local.jars_dir:
            log = Path(settings.local.state_dir).resolve() / LOGS / "class-archive.log"
            jars = ensure_jars(KAFKA_JARS, settings, console)
            ensure_class_archive(jars, find_java(os.environ), log)
    except (WarrenError, OSError) as problem:
        console.print(f"warren: no archive of Kafka's classes: {problem}", markup=False)


if __name__ == "__main__":
    main()
