"""What every benchmark measures of a process, and a broker when none is given."""

from __future__ import annotations

import os
import socket
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warren_local.jar_sets import JarSet
    from warren_local.kafka import EmbeddedKafka

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


def usage_with_children(pid: int) -> Usage:
    """Of a living process and of all that it has started, as one: CPU of those that have ended,
    too, and memory as if all had needed the most at once."""
    cpu_s, peak_rss_mb = 0.0, 0.0
    for member in family(pid):
        try:
            own = usage(member)
        except (OSError, StopIteration):  # it has just ended
            continue
        cpu_s += own.cpu_s + reaped_cpu_s(member)
        peak_rss_mb += own.peak_rss_mb
    return Usage(cpu_s, peak_rss_mb)


def family(pid: int) -> set[int]:
    """A process and all living ones that it has started, or that those have."""
    parents = {int(path.name): _parent(path) for path in Path("/proc").glob("[0-9]*")}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def reaped_cpu_s(pid: int) -> float:
    """CPU seconds of what a process had started, and that has ended; 0 when it has ended itself."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[13]) + int(fields[14])) / _TICKS


def rss_mb(pid: int) -> float:
    """What a process has in memory now; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return 0


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
    from warren_local.jar_sets import KAFKA_JARS
    from warren_local.jars import find_java
    from warren_local.kafka import EmbeddedKafka, KafkaOptions
    from warren_local.ports import free_port

    jars = jars_of(KAFKA_JARS)
    with tempfile.TemporaryDirectory(prefix="warren-bench-") as directory:
        options = KafkaOptions(free_port(), free_port(), Path(directory) / "data")
        java, log = find_java(os.environ), Path(directory) / "kafka.log"
        with EmbeddedKafka(options, java=java, jars=jars, log=log) as broker:
            yield broker


def jars_of(jars: JarSet) -> Path:
    """Those of a set, fetched the first time."""
    from rich.console import Console
    from warren.settings_file import load_settings
    from warren_local.jars import ensure_jars

    return ensure_jars(jars, load_settings(Path(os.devnull)), Console(stderr=True)).absolute()


def received_bytes(connection: socket.socket) -> int:
    """Bytes that the kernel has received on a connection (Linux, tcp_info)."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (received,) = struct.unpack_from("=Q", info, 128)  # tcpi_bytes_received
    return int(received)
