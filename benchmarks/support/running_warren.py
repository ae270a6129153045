"""A whole Warren as `warren up` starts it, watching a cluster that is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.measuring import jars_of
from warren_local.jar_sets import KAFKA_JARS, SPARK_JARS
from warren_local.ports import free_port


@dataclass(frozen=True, slots=True)
class RunningWarren:
    """Its state directory, where it also writes what it prints."""

    state: Path
    pid: int

    @property
    def running(self) -> dict[str, Any]:
        """run.json; empty before it is there."""
        try:
            found: dict[str, Any] = json.loads((self.state / "run.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return found

    def pids(self, service: str) -> list[int]:
        """Of a service's processes; none while it is started again."""
        found: list[int] = self.running.get("pids", {}).get(service, [])
        return found


@contextmanager
def running_demo(state: Path, *, archiver_every: float | None = None) -> Iterator[RunningWarren]:
    """As `make run`: with brokers and a workload of its own."""
    options = ["--kafka-port", str(free_port())]
    every = {} if archiver_every is None else {"WARREN_ARCHIVER__EVERY": str(archiver_every)}
    with _up(state, options, every) as warren:
        yield warren


@contextmanager
def _up(
    state: Path, options: list[str], more: Mapping[str, str] | None = None
) -> Iterator[RunningWarren]:
    state.mkdir()
    environ = {name: text for name, text in os.environ.items() if not name.startswith("WARREN_")}
    environ |= more or {}
    environ["WARREN_LOCAL__JARS_DIR"] = str(jars_of(KAFKA_JARS))
    environ["WARREN_ARCHIVER__JARS_DIR"] = str(jars_of(SPARK_JARS))
    command = [sys.executable, "-m", "warren_cli.main", "up", *options]
    command += ["--state-dir", str(state)]
    for option in ("--api-port", "--redis-port"):
        command += [option, str(free_port())]
    with (state / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environ, cwd=state
        )
    try:
        yield RunningWarren(state, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(240)
