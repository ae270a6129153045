"""What every benchmark measures of a process, and a broker when none is given."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warren_local.kafka import EmbeddedKafka
    from warren_local.server import EmbeddedValkey

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds since the process began, and the most memory it has had, MB."""

    cpu_s: float
    peak_rss_mb: float


def usage(pid: int | str = "self") -> Usage:
    """Of a living process, from /proc (Linux)."""
    process = Path(f"/proc/{pid}")
    # The name in parentheses may contain spaces; utime and stime are the 12th and 13th after it.
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / _TICKS
    peak = next(
        line for line in (process / "status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return Usage(cpu, int(peak.split()[1]) / 1024)


@contextmanager
def kafka(bootstrap: str | None) -> Iterator[str]:
    """The given cluster's bootstrap servers, or those of an embedded broker that ends with us."""
    if bootstrap:
        yield bootstrap
        return
    with embedded_kafka() as broker:
        yield broker.bootstrap


@contextmanager
def embedded_kafka() -> Iterator[EmbeddedKafka]:
    """A broker of its own, on free ports."""
    from rich.console import Console
    from warren.settings_file import load_settings
    from warren_local.jars import KAFKA_JARS, ensure_jars, find_java
    from warren_local.kafka import EmbeddedKafka, KafkaOptions
    from warren_local.server import free_port

    settings = load_settings(Path(os.devnull))
    jars = ensure_jars(KAFKA_JARS, settings, Console(stderr=True)).absolute()
    with tempfile.TemporaryDirectory(prefix="warren-bench-") as directory:
        options = KafkaOptions(free_port(), free_port(), Path(directory) / "data")
        java, log = find_java(os.environ), Path(directory) / "kafka.log"
        with EmbeddedKafka(options, java=java, jars=jars, log=log) as broker:
            yield broker


@contextmanager
def embedded_valkey() -> Iterator[EmbeddedValkey]:
    from warren_local.server import EmbeddedValkey, free_port

    with tempfile.TemporaryDirectory(prefix="warren-bench-valkey-") as directory:
        data = Path(directory)
        with EmbeddedValkey(free_port(), data_dir=data, log=data / "valkey.log") as valkey:
            yield valkey
