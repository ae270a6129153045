"""Brokers that all workers of a run share: who needs one first starts it, in a process of its own.

That process ends once the run has: it watches the controller of the workers, whatever kills that.
"""

import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.secured_kafka import running_secured_kafka
from support.servers import embedded_kafka
from support.waiting import eventually
from warren_local import server

EAGER = {"log.cleaner.backoff.ms": "500"}  # tests wait for compaction
PATIENCE = 180  # seconds; JVMs start slowly on a loaded machine
_RUNNING: list[subprocess.Popen[bytes]] = []  # else Python warns that nobody waits for them


def shared_kafka(
    kind: str, config: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Return the addresses of the run's broker, `plain` or `secured`; start it where nobody has."""
    has_workers = hasattr(config, "workerinput")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if has_workers else base) / f"kafka-{kind}"
    folder.mkdir(exist_ok=True)
    found = folder / "addresses.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            run = os.getppid() if has_workers else os.getpid()
            details = (kind, config.rootpath, folder, run, server.LOWEST, server.HIGHEST)
            command = [sys.executable, "-m", __name__, *map(str, details)]
            with (folder / "output").open("wb") as output:
                process = subprocess.Popen(
                    command,
                    cwd=config.rootpath / "tests",
                    start_new_session=True,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            _RUNNING.append(process)
            eventually(
                lambda: found.exists() or process.poll() is not None,
                timeout=PATIENCE,
                message=f"the {kind} broker answers",
            )
            assert found.exists(), (folder / "output").read_text()
    addresses: dict[str, str] = json.loads(found.read_text())
    return addresses


def main() -> None:
    """Run a broker, say where, and stop it when the process of the run is gone."""
    kind, root, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    run, server.LOWEST, server.HIGHEST = map(int, sys.argv[4:7])
    gone = os.pidfd_open(run)
    if kind == "plain":
        with embedded_kafka(root, folder, properties=EAGER) as kafka:
            _serve(folder, {"bootstrap": kafka.bootstrap}, gone)
    else:
        with running_secured_kafka(root, folder) as secured:
            addresses = {"bootstrap": secured.bootstrap, "secured": secured.secured}
            _serve(folder, addresses, gone)


def _serve(folder: Path, addresses: dict[str, str], gone: int) -> None:
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
        json.dump(addresses, file)
    Path(file.name).rename(folder / "addresses.json")
    select.select([gone], [], [])


if __name__ == "__main__":
    main()
