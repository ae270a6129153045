"""A real Prometheus Alertmanager."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from support.prometheus import running_server

NAMES = ("prometheus-alertmanager", "alertmanager")

# Groups by cluster, so that many alerts are one message; tells the receiver as soon as it may.
CONFIGURATION = """
route:
  receiver: hook
  group_by: [cluster]
  group_wait: 2s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: hook
    webhook_configs:
      - url: {url}
        send_resolved: true
"""


def alertmanager() -> str | None:
    """WARREN_TEST_ALERTMANAGER, else the first one on the path."""
    named = os.environ.get("WARREN_TEST_ALERTMANAGER")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@dataclass(frozen=True, slots=True)
class Alertmanager:
    url: str

    def alerts(self) -> list[dict[str, Any]]:
        """Those that fire, silenced ones too."""
        found: list[dict[str, Any]] = httpx.get(f"{self.url}/api/v2/alerts", timeout=30).json()
        return found

    def silence(self, **labels: str) -> None:
        """For an hour, what has these labels."""
        matchers = [
            {"name": name, "value": value, "isRegex": False, "isEqual": True}
            for name, value in labels.items()
        ]
        silence = {
            "matchers": matchers,
            "startsAt": "2020-01-01T00:00:00Z",
            "endsAt": "2099-01-01T00:00:00Z",
            "createdBy": "test",
            "comment": "test",
        }
        answer = httpx.post(f"{self.url}/api/v2/silences", json=silence, timeout=30)
        assert answer.is_success, answer.text


@contextmanager
def running_alertmanager(binary: str, folder: Path, receiver: str) -> Iterator[Alertmanager]:
    """One that tells a webhook at the URL `receiver`."""
    configuration = folder / "alertmanager.yml"
    configuration.write_text(CONFIGURATION.format(url=json.dumps(receiver)))
    storage = f"--storage.path={folder / 'data'}"
    options = (f"--config.file={configuration}", storage, "--cluster.listen-address=")
    with running_server(binary, folder, *options) as url:
        yield Alertmanager(url)
