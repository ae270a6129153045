"""An embedded ZooKeeper: a real one, in one JVM, on the loopback address."""

from pathlib import Path

from warren_local.server import HOST, ProcessServer, answers_with


class EmbeddedZookeeper(ProcessServer):
    """Data stays in `data_dir`."""

    title = "ZooKeeper"

    def __init__(self, port: int, *, java: Path, jars: Path, data_dir: Path, log: Path) -> None:
        super().__init__(port, log)
        self._java = java
        self._jars = jars
        self._data_dir = data_dir

    @property
    def hosts(self) -> str:
        """As clients want it, host:port."""
        return f"{HOST}:{self.port}"

    def command(self) -> list[str]:
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

    def is_ready(self) -> bool:
        """Unlike "ruok", "srvr" is answered with the version only once it serves."""
        return answers_with(b"srvr", b"Zookeeper version", self.port)
