"""A standalone Spark cluster from the installed pyspark: a master and a worker."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from support.waiting import eventually
from warren.settings.archiver import QUICK_START
from warren_local.java import find_java
from warren_local.ports import free_port

HOST = "127.0.0.1"
QUICK = f"{QUICK_START} -XX:+UseSerialGC"
"""Master, worker and executors live for seconds."""
_DEPLOY = "org.apache.spark.deploy"


@contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """The master's URL, once a worker with two cores has registered."""
    master = f"spark://{HOST}:{(port := free_port())}"
    log = folder / "spark-cluster.log"
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for role in (
            [f"{_DEPLOY}.master.Master", "--host", HOST, "--port", str(port)],
            [f"{_DEPLOY}.worker.Worker", "--host", HOST, "--cores", "2", "--memory", "1g", master],
        ):
            processes.append(_start(role, folder, log))
        eventually(
            lambda: "Registering worker" in log.read_text(), timeout=120, message="a Spark worker"
        )
        yield master
    finally:
        for process in reversed(processes):
            process.terminate()  # a worker takes its executors with it
        for process in processes:
            process.wait(60)


def _start(role: list[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__path__[0])
    environ = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
        "SPARK_LAUNCHER_OPTS": QUICK,
        "JAVA_HOME": str(find_java(os.environ).resolve().parents[1]),
    }
    command = [str(home / "bin" / "spark-class"), role[0], "--webui-port", "0", *role[1:]]
    with log.open("ab") as output:
        return subprocess.Popen(
            command, cwd=folder, env=environ, stdout=output, stderr=output, start_new_session=True
        )
