"""A standalone Spark cluster here, of the pyspark that is installed: a master and its workers."""

import importlib.util
import os
from pathlib import Path

from warren.settings.services import QUICK_START
from warren_local.jars import find_java
from warren_local.server import HOST, Child, Server, await_ready, free_port

QUICK = f"{QUICK_START} -XX:+UseSerialGC"
"""Master, workers and executors live for seconds."""
_DEPLOY = "org.apache.spark.deploy"


class SparkCluster(Server):
    """Workers with their executors; what these print is under `folder`/work."""

    def __init__(self, folder: Path, *, workers: int = 1, cores: int = 2) -> None:
        """`cores`: of each worker."""
        self._folder = folder
        self._count = workers
        self._cores = cores
        self._port = free_port()
        self._workers: list[Child] = []

    @property
    def master(self) -> str:
        """Its URL."""
        return f"spark://{HOST}:{self._port}"

    def start(self) -> None:
        """Returns once all workers have registered. Raises ServerFailed."""
        self.child = self._run("master.Master", "--port", str(self._port))
        what = ("--cores", str(self._cores), "--memory", "1g", self.master)
        self._workers = [self._run("worker.Worker", *what) for _ in range(self._count)]
        log = self.child.log
        try:
            await_ready(
                "Spark",
                self.child,
                lambda: log.read_text().count("Registering worker") >= self._count,
            )
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """A worker takes its executors with it."""
        for worker in self._workers:
            worker.stop()
        self._workers = []
        if self.child is not None:
            self.child.stop()
            self.child = None

    def _run(self, role: str, *options: str) -> Child:
        home = _pyspark()
        environ = os.environ | {
            "SPARK_HOME": home,
            "SPARK_WORKER_DIR": str(self._folder / "work"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
            "SPARK_LAUNCHER_OPTS": QUICK,
            "JAVA_HOME": str(find_java(os.environ).resolve().parents[1]),
        }
        command = [f"{home}/bin/spark-class", f"{_DEPLOY}.{role}", "--host", HOST]
        command += ["--webui-port", "0", *options]
        log = self._folder / f"spark-{role.partition('.')[0]}.log"
        return Child(command, log=log, environ=environ, directory=self._folder)


def _pyspark() -> str:
    """The folder of Spark that its Python package brings."""
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("pyspark")
    return found.submodule_search_locations[0]
