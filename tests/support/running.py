"""A `warren up` of one's own, as a process."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from support.processes import still_running
from support.servers import jars_directory
from warren_local.jars import SPARK_JARS
from warren_local.server import free_port

#: Services that serve their metrics where their section says so.
METRICS_OF = ("collector", "evaluator", "freshness", "notifier", "archiver")


@dataclass(frozen=True, slots=True)
class Running:
    """A running `warren up`."""

    process: subprocess.Popen[bytes]
    state: Path
    output: Path

    @property
    def run(self) -> dict[str, Any]:
        """run.json as it stands."""
        found: dict[str, Any] = json.loads((self.state / "run.json").read_text())
        return found

    def metrics_port(self, service: str) -> int:
        """By the settings that the run has in force."""
        settings = tomllib.loads((self.state / "warren.toml").read_text())
        return int(settings[service]["metrics_port"])

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.run["api"] + path, timeout=10, verify=False)

    def group_status(self, group: str) -> str:
        """Status as Burrow's API gives it; NOTFOUND before the group is known."""
        body = self.get(f"/v3/kafka/{self.run['cluster']}/consumer/{group}/status").json()
        return str(body["status"]["status"])

    def statuses(self) -> dict[str, str]:
        """Every group's status as our own API gives it."""
        return {g["group"]: g["status"] for g in self.get("/api/v1/groups").json()["groups"]}

    def ready(self) -> bool:
        """Whether the API answers and has read all there was."""
        try:
            return self.get("/burrow/admin/ready").status_code == 200
        except (OSError, httpx.HTTPError, KeyError, ValueError):
            return False

    def command(self, *arguments: str, timeout: float = 1500) -> subprocess.CompletedProcess[str]:
        """`warren …` with the settings of this run."""
        environ = {n: text for n, text in os.environ.items() if not n.startswith("WARREN_")}
        return subprocess.run(
            [sys.executable, "-m", "warren_cli.main", *arguments],
            env=environ | {"WARREN_CONFIG": str(self.state / "warren.toml")},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def kill(self, service: str) -> int:
        """kill -9; the process id that died."""
        (pid,) = self.run["pids"][service]
        os.kill(pid, signal.SIGKILL)
        return int(pid)

    def restarted(self, service: str, dead: int) -> bool:
        return self.run["pids"].get(service, [dead]) not in ([], [dead])


def user_file(state: Path) -> Path:
    """The settings file that the user of a run has."""
    return state.parent / "user.toml"


def start(state: Path, repository: Path, *arguments: str) -> Running:
    """Starts `warren up` with its own ports and state directory."""
    output = state / "output.txt"
    state.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "warren_cli.main", "up", "--state-dir", str(state)]
    ports = ["--api-port", "--redis-port", "--kafka-port"]
    for option in ports:
        command += [option, str(free_port())]
    environment = os.environ | {
        "WARREN_LOCAL__JARS_DIR": str(jars_directory(repository)),
        "WARREN_ARCHIVER__JARS_DIR": str(jars_directory(repository, SPARK_JARS)),
    }
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [*command, *arguments],
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=state,
            start_new_session=True,
        )
    return Running(process, state, output)


def stop(running: Running) -> int:
    """SIGTERM; the exit code. Fails when a process of the run is left over."""
    pids = [pid for group in running.run["pids"].values() for pid in group]
    running.process.send_signal(signal.SIGTERM)
    code = running.process.wait(240)  # the archiver has three minutes to stop
    assert not still_running(pids), "orphans"
    return code
