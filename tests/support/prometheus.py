"""A real Prometheus that scrapes what it is told to, with Warren's alert rules."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from support.waiting import eventually
from warren_local.server import free_port

RULES = Path(__file__).parents[2] / "deploy/prometheus/warren-rules.yml"


def prometheus() -> str | None:
    """WARREN_TEST_PROMETHEUS, else the one on the path."""
    return os.environ.get("WARREN_TEST_PROMETHEUS") or shutil.which("prometheus")


@dataclass(frozen=True, slots=True)
class Prometheus:
    url: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that it gives now. Fails where it is no PromQL."""
        answer = httpx.get(f"{self.url}/api/v1/query", params={"query": expression}, timeout=30)
        assert answer.is_success, f"{expression}: {answer.text}"
        found: list[dict[str, Any]] = answer.json()["data"]["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """As they were last evaluated."""
        groups = httpx.get(f"{self.url}/api/v1/rules", timeout=30).json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]


@contextmanager
def running_prometheus(binary: str, folder: Path, targets: Sequence[str]) -> Iterator[Prometheus]:
    """One that scrapes them every second."""
    configuration = folder / "prometheus.yml"
    scraped = {"job_name": "warren", "static_configs": [{"targets": list(targets)}]}
    often = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    content = {"global": often, "rule_files": [str(RULES)], "scrape_configs": [scraped]}
    configuration.write_text(json.dumps(content))  # JSON is YAML
    storage = f"--storage.tsdb.path={folder / 'data'}"
    with running_server(binary, folder, f"--config.file={configuration}", storage) as url:
        yield Prometheus(url)


@contextmanager
def running_server(binary: str, folder: Path, *options: str) -> Iterator[str]:
    """One of Prometheus' servers, ready; its URL."""
    url = f"127.0.0.1:{free_port()}"
    with (folder / "server.log").open("wb") as log:
        command = [binary, f"--web.listen-address={url}", *options]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def is_ready() -> bool:
        assert process.poll() is None
        try:
            return httpx.get(f"http://{url}/-/ready", timeout=5).is_success
        except httpx.TransportError:
            return False

    try:
        eventually(is_ready, message=f"{binary} is ready")
        yield f"http://{url}"
    finally:
        process.kill()
        process.wait()
