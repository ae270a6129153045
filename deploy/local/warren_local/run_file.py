"""What a run writes: run.json, where the running services are, for people, tests and the next
`warren up`; and warren.toml as in force for the services.

That may hold secrets (from `…_file` settings and the environment), so only its owner may read it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import psutil
import tomli_w
from pydantic import Secret, SecretStr
from warren.files import write_private
from warren.settings import FileSecret, Settings

RUN_FILE, SETTINGS_FILE = "run.json", "warren.toml"
_HEADER = "# Written by `warren up` at each start, for its services. Changes here are lost.\n"
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
        self.path = state_dir / RUN_FILE

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
    alive = [
        (name, process)
        for name, pids in state.pids.items()
        for pid in pids
        if (process := _ours(pid, state.born.get(str(pid)))) is not None
    ]
    processes = [process for _, process in alive]
    for process in processes:
        process.terminate()
    _, stubborn = psutil.wait_procs(processes, timeout=GRACE)
    for process in stubborn:
        process.kill()
    psutil.wait_procs(stubborn, timeout=GRACE)
    file.remove()
    return [name for name, _ in alive]


def _ours(pid: int, born: float | None) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        runs = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    same = born is not None and abs(process.create_time() - born) < SAME_BIRTH
    return process if runs and same else None


def write_effective(settings: Settings, state_dir: Path) -> Path:
    """Write warren.toml, one file that says what they run with, and return its path."""
    path = state_dir / SETTINGS_FILE
    write_private(path, _HEADER + to_toml(settings.model_dump(exclude_unset=True, by_alias=True)))
    return path


def to_toml(tables: Mapping[str, Any]) -> str:
    """TOML of nested tables, secrets in the open."""
    return tomli_w.dumps(_revealed(tables))


def _entry(name: str, value: Any) -> tuple[str, Any]:
    """A secret that services read again from its file stays in that file."""
    if isinstance(value, Secret):
        value = value.get_secret_value()  # what a channel's table has, whatever it is
    if isinstance(value, FileSecret):
        return f"{name}_file", str(value.file.absolute())
    return name, _revealed(value)


def _revealed(value: Any) -> Any:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Mapping():
            return dict(_entry(name, item) for name, item in value.items())
        case list() | tuple():
            return [_revealed(item) for item in value]
    return value
