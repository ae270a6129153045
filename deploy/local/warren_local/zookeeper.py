"""An embedded ZooKeeper: a real one, in one JVM, on the loopback address. Only tests run it."""

from __future__ import annotations

import socket
from pathlib import Path

from warren_local.child import Child
from warren_local.errors import ServerFailed
from warren_local.ports import HOST
from warren_local.readiness import await_ready
from warren_local.server import Server

START_TIMEOUT = 60.0  # seconds; 1 s is usual
# Unlike "ruok" this is answered with the version only once it serves.
_STATUS, _SERVES = b"srvr", b"Zookeeper version"


class EmbeddedZookeeper(Server):
    """Start, wait until it answers, stop. Data stays in `data_dir`."""

    def __init__(self, port: int, *, java: Path, jars: Path, data_dir: Path, log: Path) -> None:
        self.port = port
        self._java = java
        self._jars = jars
        self._data_dir = data_dir
        self._log = log

    @property
    def hosts(self) -> str:
        """As clients want it, host:port."""
        return f"{HOST}:{self.port}"

    def command(self) -> list[str]:
        """The server's command line."""
        self._data_dir.mkdir(parents=True, exist_ok=True)
        configuration = self._data_dir / "zoo.cfg"
        configuration.write_text(
            f"clientPortAddress={HOST}\nclientPort={self.port}\ndataDir={self._data_dir}\n"
            "admin.enableServer=false\n4lw.commands.whitelist=srvr\n"
        )
        return [
            str(self._java),
            *("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            "-Djava.awt.headless=true",
            "-Dzookeeper.forceSync=no",  # nobody needs the data after a crash; a busy disk is slow
            *("-cp", f"{self._jars}/*"),
            "org.apache.zookeeper.server.ZooKeeperServerMain",
            str(configuration),
        ]

    def start(self) -> None:
        """Start and wait until it answers; raises ServerFailed."""
        self._child = Child(self.command(), log=self._log)
        try:
            await_ready("ZooKeeper", self._child, self.is_ready, timeout=START_TIMEOUT)
        except ServerFailed:
            self.stop()
            raise

    def is_ready(self) -> bool:
        """Whether it says that it serves."""
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(_STATUS)
                return connection.recv(len(_SERVES), socket.MSG_WAITALL) == _SERVES
        except OSError:
            return False

    def stop(self) -> None:
        """Stop it; no harm when it does not run."""
        if self._child is not None:
            self._child.stop()
            self._child = None
