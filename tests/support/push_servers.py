"""Real servers that samples are pushed to."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from support.waiting import eventually
from warren_local.ports import free_port

#: By what a test asks for: the variable that names the binary, and its names on the path.
BINARIES = {
    "influxdb": ("WARREN_TEST_INFLUXDB", "influxd"),
    "victoria-metrics": ("WARREN_TEST_VICTORIA_METRICS", "victoria-metrics"),
    "carbon": ("WARREN_TEST_CARBON", "carbon-cache"),
    "collector": ("WARREN_TEST_OTEL_COLLECTOR", "otelcol"),
}
_BUILT = Path(__file__).parents[2] / ".warren/otelcol/otelcol"  # by `make collector`

CARBON = """
[cache]
STORAGE_DIR = {folder}
CONF_DIR = {folder}
LOCAL_DATA_DIR = {folder}/whisper
LOG_DIR = {folder}
PID_DIR = {folder}
USER =
ENABLE_TAGS = False
CACHE_WRITE_STRATEGY = timesorted
MIN_TIMESTAMP_LAG = 3600
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = {port}
PICKLE_RECEIVER_PORT = 0
CACHE_QUERY_INTERFACE = 127.0.0.1
CACHE_QUERY_PORT = {query_port}
"""
INFLUXDB = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:{port}"
log-enabled = false
"""
COLLECTOR = """
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters:
  otlp_http: {{endpoint: "{sink}", encoding: json, compression: gzip}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{metrics: {{receivers: [otlp], exporters: [otlp_http]}}}}
"""


def binary(name: str) -> str | None:
    """The one that its variable names, else the one on the path; a collector that was built."""
    variable, command = BINARIES[name]
    built = str(_BUILT) if name == "collector" and _BUILT.exists() else None
    return os.environ.get(variable) or shutil.which(command) or built


@contextmanager
def influxdb(command: str, folder: Path) -> Iterator[str]:
    """Its URL."""
    port = free_port()
    configuration = folder / "influxdb.conf"
    configuration.write_text(INFLUXDB.format(rpc=free_port(), port=port, folder=folder))
    url = f"http://127.0.0.1:{port}"
    with _running(
        [command, "-config", str(configuration)], folder, lambda: _answers(f"{url}/ping")
    ):
        yield url


@contextmanager
def victoria_metrics(command: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Its URL, and the address of its Graphite listener."""
    url, graphite = f"http://127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    arguments = [
        command,
        f"-storageDataPath={folder / 'data'}",
        f"-httpListenAddr={url.removeprefix('http://')}",
        f"-graphiteListenAddr={graphite}",
        "-search.latencyOffset=0s",
        "-retentionPeriod=100y",
        "-influxSkipSingleField",
    ]
    with _running(arguments, folder, lambda: _answers(f"{url}/health")):
        yield url, graphite


@dataclass(frozen=True, slots=True)
class Carbon:
    address: str
    query: tuple[str, int]

    def values(self, metric: str) -> list[float]:
        """Those that it holds in memory, oldest first."""
        request = pickle.dumps({"type": "cache-query", "metric": metric}, protocol=2)
        with socket.create_connection(self.query, 10) as connection:
            connection.sendall(struct.pack("!L", len(request)) + request)
            answer = connection.makefile("rb")
            (size,) = struct.unpack("!L", answer.read(4))
            found: dict[str, Any] = pickle.loads(answer.read(size))
        return [value for _, value in found["datapoints"]]


@contextmanager
def carbon(command: str, folder: Path) -> Iterator[Carbon]:
    port, query_port = free_port(), free_port()
    configuration = folder / "carbon.conf"
    configuration.write_text(CARBON.format(folder=folder, port=port, query_port=query_port))
    schemas = "[all]\npattern = .*\nretentions = 60s:1d\n"
    (folder / "storage-schemas.conf").write_text(schemas)
    arguments = [command, f"--config={configuration}", "--nodaemon", "start"]
    with _running(arguments, folder, lambda: _listens(port) and _listens(query_port)):
        yield Carbon(f"127.0.0.1:{port}", ("127.0.0.1", query_port))


@contextmanager
def collector(command: str, folder: Path, sink: str) -> Iterator[str]:
    """Its URL for OTLP. It hands on what it gets as JSON to the URL `sink`."""
    port = free_port()
    configuration = folder / "collector.yaml"
    configuration.write_text(COLLECTOR.format(port=port, sink=sink))
    arguments = [command, f"--config={configuration}"]
    with _running(arguments, folder, lambda: _listens(port)):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(arguments: list[str], folder: Path, is_ready: Callable[[], bool]) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=subprocess.STDOUT, cwd=folder)

    def ready() -> bool:
        assert process.poll() is None, (folder / "log").read_text("utf-8", "replace")[-2000:]
        return is_ready()

    try:
        eventually(ready, message=f"{arguments[0]} is ready")
        yield
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.TransportError:
        return False


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


def exported(url: str) -> list[tuple[dict[str, str], float]]:
    """All series of VictoriaMetrics with their last value."""
    match = {"match[]": '{__name__=~".+"}'}
    text = httpx.get(f"{url}/api/v1/export", params=match, timeout=30).text
    rows = [json.loads(line) for line in text.split("\n") if line]
    return [(row["metric"], row["values"][-1]) for row in rows]
