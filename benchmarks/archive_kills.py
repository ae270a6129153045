"""Whether the lake stays right: ten archivers are killed, the broker is stopped once.

Offset events, some late and some twice, arrive in parts. Amid each the archiver, a process of its
own that makes all tables, is killed with SIGKILL, Spark's JVM with it: once it has taken so many
CPU seconds, a number by chance, so that a slow machine is hit at the same moments as a quick one.
The first lives find no table: they are killed amid first starts. In one life the broker is stopped
and started. What is left is archived by one pass, and everything is proved by SQL of
DuckDB's from what a plain consumer finds. Prints one JSON line; exit 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic
from support.independent_sql import differences
from support.measuring import embedded_kafka, jars_of, usage_with_children
from support.restless_load import RestlessLoad
from support.service_process import WITHIN, ServiceProcess, running_service
from warren.contracts.topics import CATALOGUE
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren.settings_file import load_settings
from warren_local.jar_sets import SPARK_JARS
from warren_local.kafka import EmbeddedKafka

KILLS = 10
FIRST_STARTS = 3
STOPPED_IN = 6
"""The life in which the broker is stopped."""
FIRST_CPU_S, CPU_S = (6.0, 40.0), (10.0, 100.0)
"""From the start to the kill: a JVM takes 6 until it archives, and a pass that makes all tables for
the first time 80."""
CONFIG = """
[home]
bootstrap = "{bootstrap}"

[archiver]
path = "{path}"
jars_dir = "{jars}"
every = 0
interval = 2
silver_interval = 10
gold_interval = 20
batch_records = {batch}

[[objectives]]
name = "short"
max_lag = 1000
target = 0.9
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    configure(LogSettings(level="error"))
    chance = random.Random(arguments.seed)
    started = time.perf_counter()
    with embedded_kafka() as broker, tempfile.TemporaryDirectory() as directory:
        lake, file = Path(directory) / "lake", Path(directory) / "warren.toml"
        batch = max(arguments.events // 20, 1)
        jars = jars_of(SPARK_JARS)
        config = CONFIG.format(bootstrap=broker.bootstrap, path=lake, jars=jars, batch=batch)
        file.write_text(config)
        settings = load_settings(file)
        _create_topics(settings)
        load = RestlessLoad(settings, arguments.events, chance)
        parts = _parts(len(load.events))
        killed_at = []
        for life, part in enumerate(parts[:KILLS]):
            stopped = broker if life == STOPPED_IN else None
            killed_at.append(_live_and_die(config, lake, load, part, chance, stopped, life))
            print(f"killed at {killed_at[-1]}, {_since(started)} s", file=sys.stderr, flush=True)
        load.fill(*parts[KILLS])
        command = [sys.executable, "-m", "warren_archiver", "--once", "--config", str(file)]
        subprocess.run(command, check=True, env={**os.environ, "WARREN_LOG__LEVEL": "error"})
        archived, proof = _since(started), time.perf_counter()
        found = list(differences(settings))
    result = {
        "benchmark": "archive_kills",
        "events": len(load.events),
        "killed_at": killed_at,
        "archived_after_s": archived,
        "proof_s": _since(proof),
        "rows": {table: rows for table, rows, _ in found},
        "differences": {table: unlike for table, _, unlike in found if unlike},
    }
    print(json.dumps(result))
    sys.exit(bool(result["differences"]))


def _since(moment: float) -> int:
    return round(time.perf_counter() - moment)


def _parts(events: int) -> list[tuple[int, int]]:
    """One for each kill, and one for after them."""
    return list(pairwise(events * number // (KILLS + 1) for number in range(KILLS + 2)))


def _create_topics(settings: Settings) -> None:
    admin = AdminClient({"bootstrap.servers": settings.home.bootstrap})
    prefix = settings.home.topic_prefix
    new = [NewTopic(t.full_name(prefix), 4, 1, config=t.config()) for t in CATALOGUE]
    for created in admin.create_topics(new, operation_timeout=60).values():
        created.result()


def _live_and_die(
    config: str,
    lake: Path,
    load: RestlessLoad,
    part: tuple[int, int],
    chance: random.Random,
    stopped: EmbeddedKafka | None,
    life: int,
) -> str:
    """What it was killed at: the folder of the newest file, after how much work."""
    wanted = chance.uniform(*(FIRST_CPU_S if life < FIRST_STARTS else CPU_S))
    filling = threading.Thread(target=load.fill, args=part)
    before = _files(lake)
    with running_service("archiver", config) as archiver:
        filling.start()
        if stopped is not None:
            _await_work(archiver, wanted / 2)
            stopped.stop()
            stopped.start()
        _await_work(archiver, wanted)
        _kill(archiver)
    filling.join()
    made = sorted(_files(lake) - before, key=lambda file: file.stat().st_mtime)
    where = made[-1].parent.relative_to(lake) if made else "nothing"
    return f"{where} ({wanted:.0f} CPU s, {len(made)} files)"


def _await_work(archiver: ServiceProcess, cpu_s: float) -> None:
    deadline = time.monotonic() + WITHIN
    while usage_with_children(archiver.pid).cpu_s < cpu_s:
        if not archiver.is_running() or time.monotonic() > deadline:
            sys.exit(f"not within {WITHIN:g} s: {archiver.log.read_text()[-2000:]}")
        time.sleep(0.05)


def _files(lake: Path) -> set[Path]:
    """Of rows and of logs."""
    return {*lake.glob("*/*/_delta_log/*.json"), *lake.glob("*/*/date=*/*.parquet")}


def _kill(archiver: ServiceProcess) -> None:
    """And the JVM, which would end a moment later."""
    for pid in [*_children(archiver.pid), archiver.pid]:
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in listed for child in file.read_text().split()]


if __name__ == "__main__":
    main()
