"""Kafka's and Spark's classes, read and verified once: a broker, and Spark's JVM, that find them
start with a third less CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from warren.errors import WarrenError
from warren.settings_file import load_settings

from warren_local.jar_sets import KAFKA_JARS, SPARK_JARS
from warren_local.jars import ensure_jars
from warren_local.java import find_java
from warren_local.kafka import EmbeddedKafka, KafkaOptions, class_archive
from warren_local.ports import free_port
from warren_local.state_folder import LOGS

WRITING = 120.0  # seconds at most, after the broker has stopped; 5 s are usual
SPARK = 600.0  # seconds at most, all in all; 30 s are usual


def ensure_class_archive(jars: Path, write: Callable[[Path], None]) -> None:
    """Have an archive written beside these jars, unless one is there that is newer."""
    archive = class_archive(jars)
    if archive.is_file() and archive.stat().st_mtime >= jars.stat().st_mtime:
        return
    archive.unlink(missing_ok=True)  # who reads one can write none
    with tempfile.TemporaryDirectory(prefix="class-archive-", dir=jars.parent) as directory:
        written = Path(directory) / archive.name
        write(written)
        if written.is_file():
            written.replace(archive)


def kafkas_classes(jars: Path, java: Path, log: Path, written: Path) -> None:
    """Let a broker live for a moment; raises ServerFailed when it does not start."""
    options = KafkaOptions(free_port(), free_port(), written.parent / "kafka")
    with EmbeddedKafka(options, java=java, jars=jars, log=log, written_classes=written) as one:
        one.stop(WRITING)


def sparks_classes(jars: Path, log: Path, written: Path) -> None:
    """Let a session live for a moment; raises SubprocessError when it does not.

    Its JVM ends, and writes, some time after its Python: when nobody has the pipe any more.
    """
    command = [sys.executable, "-m", "warren_local.spark_classes", str(jars), str(written)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SPARK, check=False
    )
    log.write_bytes(done.stdout)
    done.check_returncode()


def main() -> None:
    """`python -m warren_local.class_archive`: what `make test` runs. Without one it is slower."""
    console = Console(stderr=True)
    try:
        settings = load_settings(None)
        logs = Path(settings.local.state_dir).resolve() / LOGS
        logs.mkdir(parents=True, exist_ok=True)
        if not settings.local.jars_dir:
            jars, log = ensure_jars(KAFKA_JARS, settings, console), logs / "class-archive.log"
            ensure_class_archive(jars, partial(kafkas_classes, jars, find_java(os.environ), log))
        if not settings.archiver.jars_dir:
            jars, log = ensure_jars(SPARK_JARS, settings, console), logs / "spark-classes.log"
            ensure_class_archive(jars, partial(sparks_classes, jars, log))
    except (WarrenError, OSError, subprocess.SubprocessError) as problem:
        console.print(f"warren: no archive of classes: {problem}", markup=False)


if __name__ == "__main__":
    main()
