"""The whole pipeline by executors of a cluster, one of which is killed: the same as by one JVM.

`warren up` runs its demo for some minutes, then stops; what is on its topics is archived twice, as
by `warren archive run --once`: into one lake by two workers of a standalone Spark cluster, where a
worker is killed with its executor while silver is being made, and into another by `local[2]`. Then
replay, check and upkeep run on the cluster, and reports are made of both lakes. Each table has the
same rows in both, every layer is proved, and the reports are equal, or this exits 1. Prints one
JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import deltalake
import duckdb
from support.measuring import jars_of
from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.silver.catalogue import TABLES as SILVER
from warren_local.jar_sets import KAFKA_JARS, SPARK_JARS
from warren_local.java import find_java
from warren_local.kafka import EmbeddedKafka, KafkaOptions
from warren_local.ports import free_port
from warren_local.spark_cluster import QUICK, SparkCluster

WITHIN = 900.0  # seconds that each step may take
STATES = {"gold_progress"}
"""What tells of versions of tables, which are other ones in each lake."""
OF_GOLD = ("capacity", "error_budgets")
CONFIG = """
[home]
bootstrap = "{bootstrap}"
[archiver]
path = "{lake}"
jars_dir = "{jars}"
master = "{master}"
[archiver.spark]
"spark.executor.memory" = "768m"
"spark.executor.cores" = "1"
"spark.executor.extraJavaOptions" = "{options}"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240, help="how long the demo runs")
    arguments = parser.parse_args()
    jars, spark_jars = jars_of(KAFKA_JARS), jars_of(SPARK_JARS)
    with tempfile.TemporaryDirectory(prefix="warren-bench-") as directory:
        folder = Path(directory)
        os.environ["WARREN_LOCAL__JARS_DIR"] = str(jars)
        port = _demo(folder / "demo", arguments.seconds)
        options = KafkaOptions(
            port=port, controller_port=free_port(), data_dir=folder / "demo" / "demo-kafka"
        )
        java, log = find_java(os.environ), folder / "kafka.log"
        with EmbeddedKafka(options, java=java, jars=jars, log=log) as broker:
            found = _compared(folder, broker.bootstrap, spark_jars)
    print(json.dumps({"benchmark": "spark_cluster"} | found))
    sys.exit(bool(found["differences"]))


def _demo(state: Path, seconds: float) -> int:
    """The port that its broker had; the data stay."""
    port = free_port()
    command = ["up", "--plain", "--without", "archiver", "--state-dir", str(state)]
    for option, number in (("--api-port", free_port()), ("--redis-port", free_port())):
        command += [option, str(number)]
    process = _warren([*command, "--kafka-port", str(port)], state.with_suffix(".log"))
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    if process.wait(120):
        sys.exit(f"the demo failed: {state.with_suffix('.log').read_text()[-2000:]}")
    return port


def _compared(folder: Path, bootstrap: str, jars: Path) -> dict[str, Any]:
    files = {}
    with SparkCluster(folder / "spark", workers=2, cores=1) as cluster:
        for name, master in (("cluster", cluster.master), ("local", "local[2]")):
            files[name] = folder / f"{name}.toml"
            text = CONFIG.format(
                bootstrap=bootstrap, lake=folder / name, jars=jars, master=master, options=QUICK
            )
            files[name].write_text(text)
        archiving = _warren(["archive", "run", "--once", "-c", str(files["cluster"])], folder / "a")
        _await_files(folder / "cluster" / "silver" / "positions", archiving)
        cluster.kill_worker()
        killed_while_it_ran = archiving.poll() is None
        _ended(archiving, folder / "a")
        _run("archive", "run", "--once", config=files["local"])
        said = _run("archive", "check", "--wait", "0", config=files["cluster"])
        replayed = [_replayed(files[name]) for name in ("cluster", "local")]
        wrong = _differences(folder / "cluster", folder / "local")
        _run("archive", "upkeep", config=files["cluster"])
        wrong += _differences(folder / "cluster", folder / "local")
    of_cluster, of_local = (_reported(file) for file in files.values())
    wrong += ["replay"] * (replayed[0] != replayed[1])
    wrong += _unlike(of_cluster, of_local, "report")
    wrong += ["no worker was killed while it worked"] * (not killed_while_it_ran)
    return {"check": said.splitlines()[-1:], "rows": _rows(folder / "local"), "differences": wrong}


def _reported(config: Path) -> Any:
    """But for up to when gold is known, which tells when each lake was archived."""
    said = json.loads(_run("report", "--as-is", "--last", "10m", "--json", config=config))
    said["known"] = [each for each in said["known"] if each["kind"] not in OF_GOLD]
    return said


def _unlike(one: Any, other: Any, at: str) -> list[str]:
    """`report.groups[3].lag: 1 and 2`, of two documents."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() | other.keys()
        pairs = [(one.get(key), other.get(key), f"{at}.{key}") for key in sorted(keys)]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [
            (*both, f"{at}[{place}]") for place, both in enumerate(zip(one, other, strict=True))
        ]
    else:
        return [f"{at}: {one} and {other}"] * (one != other)
    return [said for left, right, where in pairs for said in _unlike(left, right, where)]


def _warren(arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "warren_cli.main", *arguments]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=output, cwd=log.parent)


def _run(*arguments: str, config: Path) -> str:
    """What it prints on standard output."""
    print(f"warren {' '.join(arguments)}", file=sys.stderr)
    command = [sys.executable, "-m", "warren_cli.main", *arguments, "-c", str(config)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=WITHIN, check=False, cwd=config.parent
    )
    if done.returncode:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr[-3000:]}")
    return done.stdout


def _replayed(config: Path) -> Any:
    """What other settings would have told."""
    told = json.loads(
        _run("replay", "--last", "10m", "--policy", "burrow", "--json", config=config)
    )
    return {name: value for name, value in told.items() if name != "run"}


def _await_files(table: Path, archiving: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + WITHIN
    while not list(table.glob("date=*/*.parquet")):
        if archiving.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"nothing was written to {table}")
        time.sleep(0.05)


def _ended(process: subprocess.Popen[bytes], log: Path) -> None:
    if process.wait(WITHIN):
        sys.exit(f"archiving failed: {log.read_text()[-3000:]}")


def _tables() -> list[str]:
    names = ["bronze/events"]
    names += [f"silver/{table.name}" for table in SILVER]
    return names + [f"gold/{table.name}" for table in GOLD if table.name not in STATES]


def _rows(lake: Path) -> dict[str, int]:
    found = {}
    for name in _tables():
        files = _files(lake / name)
        if files:
            found[name] = _count(f"SELECT count(*) FROM read_parquet({files})")
    return found


def _differences(one: Path, other: Path) -> list[str]:
    """Rows that are in one of them only, by delta-rs and DuckDB."""
    found = []
    for name in _tables():
        files = _files(one / name), _files(other / name)
        if not all(files):
            found += [f"{name} has no rows in one lake"] * any(files)
            continue
        left, right = (f"SELECT * FROM read_parquet({each}, union_by_name=true)" for each in files)
        query = f"SELECT count(*) FROM (({left}) EXCEPT ALL ({right}))"
        back = f"SELECT count(*) FROM (({right}) EXCEPT ALL ({left}))"
        counts = _count(query), _count(back)
        found += [f"{name}: {counts[0]} and {counts[1]} rows differ"] * any(counts)
    return found


def _count(query: str) -> int:
    with duckdb.connect() as database:
        row = database.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def _files(table: Path) -> list[str]:
    if not (table / "_delta_log").exists():
        return []
    return [str(file) for file in deltalake.DeltaTable(str(table)).file_uris()]


if __name__ == "__main__":
    main()
