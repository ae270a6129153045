"""A service of Warren's as a process of its own, until it is ready and beyond."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
from prometheus_client.parser import text_string_to_metric_families
from warren_local.ports import free_port

READY_WITHIN = 120.0  # seconds


class ServiceProcess:
    """`python -m warren_<name>`, from `with` on until it is ready; terminated at the end."""

    def __init__(self, name: str, config: Path) -> None:
        self._name = name
        self._config = config
        self._port = free_port()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"warren_{self._name}", "--config", str(self._config)],
            env={**os.environ, f"WARREN_{self._name.upper()}__METRICS_PORT": str(self._port)},
        )
        self.await_(self._is_ready, "it is ready")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    def total(self, series: str) -> float:
        """Sum of the samples of a series; 0 when there are none."""
        text = httpx.get(f"http://127.0.0.1:{self._port}/metrics").text
        families = text_string_to_metric_families(text)
        return sum(s.value for family in families for s in family.samples if s.name == series)

    def await_(self, condition: Callable[[], bool], what: str) -> None:
        """Raises SystemExit when it does not come true."""
        deadline = time.monotonic() + READY_WITHIN
        while not condition():
            if time.monotonic() > deadline or self._process.poll() is not None:
                sys.exit(f"warren-{self._name}, not within {READY_WITHIN:g} s: {what}")
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self._port}/ready").status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False
