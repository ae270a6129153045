"""A `warren-collector` process with default settings, and what it says of itself."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families
from warren_local.ports import free_port

WITHIN = 600.0  # seconds that any waiting may take


@dataclass(frozen=True, slots=True)
class CollectorProcess:
    """`log`: where it writes, one JSON object a line."""

    pid: int
    port: int
    log: Path

    def is_ready(self) -> bool:
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.port}/ready", timeout=30)
        except httpx.HTTPError:
            return False
        return answer.status_code == httpx.codes.OK

    def total(self, series: str) -> float:
        """Sum of the samples of a series; 0 when there are none."""
        text = httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=30).text
        families = text_string_to_metric_families(text)
        return sum(s.value for family in families for s in family.samples if s.name == series)

    def until(self, condition: Callable[[], bool], what: str, every: float = 0.2) -> None:
        deadline = time.monotonic() + WITHIN
        while not condition():
            if time.monotonic() > deadline:
                sys.exit(f"not within {WITHIN:g} s: {what}\n{self.log.read_text()[-2000:]}")
            time.sleep(every)


@contextmanager
def running_collector(bootstrap: str, offsets_topic: str) -> Iterator[CollectorProcess]:
    with tempfile.TemporaryDirectory(prefix="warren-bench-collector-") as directory:
        port, config, log = free_port(), Path(directory) / "warren.toml", Path(directory) / "log"
        config.write_text(_config(bootstrap, offsets_topic, port))
        command = [sys.executable, "-m", "warren_collector", "--config", str(config)]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stderr=output, stdout=output)
            try:
                yield CollectorProcess(process.pid, port, log)
            finally:
                process.terminate()
                process.wait()


def _config(bootstrap: str, offsets_topic: str, port: int) -> str:
    return f"""
[home]
bootstrap = "{bootstrap}"
topic_prefix = "warren-bench."
[clusters.bench]
bootstrap = "{bootstrap}"
offsets_topic = "{offsets_topic}"
[collector]
group_id = "warren-bench-{time.time_ns()}"
metrics_port = {port}
[log]
format = "json"
"""
