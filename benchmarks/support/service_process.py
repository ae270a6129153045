"""A service of Warren's as a process of its own, and what it says of itself."""

import os
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
from support.measuring import Usage, usage
from warren_local.server import free_port

WITHIN = 600.0  # seconds that any waiting may take


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """`log`: where it writes, one JSON object a line. `ready`: path of its readiness."""

    pid: int
    port: int
    log: Path
    ready: str

    def is_ready(self) -> bool:
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.port}{self.ready}", timeout=30)
        except httpx.HTTPError:
            return False
        return answer.status_code == httpx.codes.OK

    def is_running(self) -> bool:
        """Not so once it has ended, though nobody has asked for its exit code."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[0] != "Z"

    def usage(self) -> Usage:
        return usage(self.pid)

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
def running_service(
    name: str, config: str, release: Path | None = None
) -> Iterator[ServiceProcess]:
    """`config` is the content of warren.toml; the port, of metrics or the api, is chosen here.

    `release`: an unpacked wheel that runs in place of the code that is here.
    """
    with tempfile.TemporaryDirectory(prefix=f"warren-bench-{name}-") as directory:
        port, file, log = free_port(), Path(directory) / "warren.toml", Path(directory) / "log"
        file.write_text(config)
        command = [sys.executable, "-m", f"warren_{name}", "--config", str(file)]
        environment = {
            **os.environ,
            f"WARREN_{name.upper()}__{'PORT' if name == 'api' else 'METRICS_PORT'}": str(port),
            "WARREN_LOG__FORMAT": "json",
            **({"PYTHONPATH": str(release)} if release else {}),
        }
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stderr=output, stdout=output, cwd=directory, env=environment
            )
            try:
                ready = "/burrow/admin/ready" if name == "api" else "/ready"
                yield ServiceProcess(process.pid, port, log, ready)
            finally:
                process.terminate()
                process.wait()
