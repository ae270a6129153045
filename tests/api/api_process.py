"""The API as a process of its own."""

import json
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx
from support.waiting import eventually
from warren.settings import HomeSettings

NOBODY = HomeSettings(bootstrap="127.0.0.1:1", topic_prefix="nobody.")


@dataclass
class Service:
    """A running warren-api."""

    process: subprocess.Popen[bytes]
    log: Path

    def lines(self) -> list[dict[str, Any]]:
        text = self.log.read_text().splitlines()
        return [json.loads(line) for line in text if line.startswith("{")]

    def address(self) -> str:
        def listening() -> str:
            found = [line["address"] for line in self.lines() if line["event"] == "listening"]
            return str(found[0]) if found else ""

        return eventually(listening, message="the API listens")

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.address() + path, timeout=30, verify=False)

    def ready(self) -> bool:
        return self.get("/burrow/admin/ready").text == "READY"

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


class Start(Protocol):
    """Starts a service; `variables` are more of its environment."""

    def __call__(self, home: HomeSettings, **variables: str) -> Service: ...
