"""run.json: where the running services are, for people, tests and the next `warren up`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

import psutil
from warren.private_files import write_private

FILE_NAME = "run.json"
GRACE = 5.0  # seconds between SIGTERM and SIGKILL
SAME_BIRTH = 2.0  # seconds by which a start time may move when the clock is corrected


@dataclass(frozen=True, slots=True)
class RunState:
    """What run.json says. `born` is the start time (Unix seconds) of each process, by id."""

    api: str
    kafka: str
    home_kafka: str
    redis: str
    cluster: str
    supervisor: int
    pids: Mapping[str, list[int]] = field(default_factory=dict)
    born: Mapping[str, float] = field(default_factory=dict)

    def with_pids(self, pids: Mapping[str, list[int]]) -> Self:
        """The same run with other processes."""
        flat = [pid for group in pids.values() for pid in group]
        known = {str(pid): at for pid in flat if (at := born_at(pid)) is not None}
        return replace(self, pids=dict(pids), born=known)


class RunFile:
    """run.json in a state directory."""

    def __init__(self, state_dir: Path) -> None:
        self.path = state_dir / FILE_NAME

    def write(self, state: RunState) -> None:
        """Replace the file in one step: a reader sees the old or the new one, whole."""
        write_private(self.path, json.dumps(asdict(state), indent=2) + "\n")

    def read(self) -> RunState | None:
        """None when there is none, or it is not one of ours."""
        try:
            return RunState(**json.loads(self.path.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def born_at(pid: int) -> float | None:
    """Start time of a process; with the id it names one process for good. None when gone."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def stop_leftovers(file: RunFile) -> list[str]:
    """Stop what an earlier run, which was killed, has left; returns the names of those services.

    On Linux the kernel ends them together with their parent; elsewhere this has to. A process is
    ours only when id and start time are those that were written down: the id alone may meanwhile
    belong to anybody.
    """
    state = file.read()
    if state is None:
        return []
    alive = _alive(state)
    processes = [process for _, process in alive]
    for process in processes:
        process.terminate()
    _, stubborn = psutil.wait_procs(processes, timeout=GRACE)
    for process in stubborn:
        process.kill()
    psutil.wait_procs(stubborn, timeout=GRACE)
    file.remove()
    return [name for name, _ in alive]


def _alive(state: RunState) -> list[tuple[str, psutil.Process]]:
    return [
        (name, process)
        for name, pids in state.pids.items()
        for pid in pids
        if (process := _ours(pid, state.born.get(str(pid)))) is not None
    ]


def _ours(pid: int, born: float | None) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        runs = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    same = born is not None and abs(process.create_time() - born) < SAME_BIRTH
    return process if runs and same else None
