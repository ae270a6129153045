"""LinkedIn's Burrow on the same topic, for comparison: a binary that the user has."""

import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warren_local.server import free_port


@contextmanager
def running_burrow(binary: Path, bootstrap: str, topic: str) -> Iterator[int]:
    """Its process id. Raises SystemExit when it has ended by itself meanwhile."""
    with tempfile.TemporaryDirectory(prefix="warren-bench-burrow-") as directory:
        config = _config(bootstrap, topic, directory)
        (Path(directory) / "burrow.toml").write_text(config)
        output = Path(directory) / "output"
        with output.open("wb") as log:
            burrow = subprocess.Popen(
                [str(binary), "--config-dir", directory], stdout=log, stderr=subprocess.STDOUT
            )
            try:
                yield burrow.pid
                if burrow.poll() is not None:
                    raise SystemExit(f"Burrow ended:\n{output.read_text()[-2000:]}")
            finally:
                burrow.send_signal(signal.SIGTERM)
                burrow.wait()


def _config(bootstrap: str, topic: str, directory: str) -> str:
    servers = json.dumps(bootstrap.split(","))
    return f"""
[general]
pidfile = "{directory}/burrow.pid"
[logging]
filename = "{directory}/burrow.log"
level = "error"
[client-profile.bench]
client-id = "burrow-bench"
kafka-version = "2.0.0"
[cluster.bench]
class-name = "kafka"
servers = {servers}
client-profile = "bench"
topic-refresh = 600
offset-refresh = 10
[consumer.bench]
class-name = "kafka"
cluster = "bench"
servers = {servers}
client-profile = "bench"
offsets-topic = "{topic}"
start-latest = true
[httpserver.default]
address = "127.0.0.1:{free_port()}"
[evaluator.default]
class-name = "caching"
expire-cache = 10
[storage.default]
class-name = "inmemory"
workers = 20
intervals = 10
min-distance = 0
"""
