"""Whether the lake stays right: its driver is killed five times, the broker restarted once.

Offset events arrive in parts. Amid each the archiver, a process of its own with all its queries, is
killed with SIGKILL, Spark's JVM with it; after the third kill the broker is restarted. What is left
is archived at the end, and everything is proved as `warren archive check` does: each record in
bronze once, silver and gold equal to what all of bronze, and all of silver, make at once. Prints
one JSON line; exit 1 where anything differs.

`--first-starts 10` kills ten archivers instead, each in a lake of its own, at the moment at which
they begin to create one of its tables. Second starts have to make the tables of each lake; the last
lake is then filled, and proved.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from archive import Load
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from support.measuring import embedded_kafka, jars_of
from support.service_process import WITHIN, ServiceProcess, running_service
from warren.clock import SystemClock
from warren.contracts.topics import CATALOGUE
from warren.log import configure
from warren.settings import LogSettings, Settings
from warren.settings_file import load_settings
from warren_archiver.check.gold_check import check_gold
from warren_archiver.check.recount import check
from warren_archiver.check.silver_check import check_silver
from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.session import open_session
from warren_archiver.silver.catalogue import TABLES as SILVER
from warren_archiver.streaming.archive import archive
from warren_local.jar_sets import SPARK_JARS
from warren_local.kafka import EmbeddedKafka

KILLS = 5
AT_ONCE = 5
"""First starts that run side by side: most of what they cost is the start of a JVM."""
FEW = 200
"""Events for first starts: these are about tables, not about what is in them."""
TABLES = {
    *(f"bronze/{name}" for name in ("events", "gaps")),
    *(f"silver/{table.name}" for table in SILVER),
    *(f"gold/{table.name}" for table in GOLD),
}
RESTART_AFTER = 3
CONFIG = """
[home]
bootstrap = "{bootstrap}"

[archiver]
path = "{path}"
jars_dir = "{jars}"
every = 0
interval = 2
silver_interval = 10
gold_interval = 30
batch_records = {batch}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first-starts", type=int, metavar="N", help="kill these instead")
    arguments = parser.parse_args()
    configure(LogSettings(level="error"))
    jars = jars_of(SPARK_JARS)
    chance = random.Random(arguments.seed)
    with embedded_kafka() as broker, tempfile.TemporaryDirectory() as directory:
        lake, file = Path(directory) / "lake", Path(directory) / "warren.toml"
        batch = max(arguments.events // 20, 1)
        config = CONFIG.format(bootstrap=broker.bootstrap, path=lake, jars=jars, batch=batch)
        file.write_text(config)
        settings = load_settings(file)
        _create_topics(settings)
        started = time.perf_counter()
        if arguments.first_starts:
            fresh = [Path(directory) / f"lake-{n}" for n in range(arguments.first_starts)]
            report = _first_starts(settings, fresh, chance)
            seconds = round(time.perf_counter() - started)
            print(json.dumps({"benchmark": "archive_kills", "seconds": seconds} | report))
            sys.exit(bool(report["differences"]))
        load, ends = Load(settings, 5), _parts(arguments.events)
        for number, (first, end) in enumerate(ends[:KILLS], start=1):
            _live_and_die(config, load, first, end, chance)
            if number == RESTART_AFTER:
                _restart(broker)
            spent = round(time.perf_counter() - started)
            print(f"killed {number} times after {spent} s", file=sys.stderr)
        load.fill(*ends[KILLS])
        spark = open_session(settings.archiver, "warren-bench-kills")
        wrong, rows = _proved(spark, settings)
        spark.stop()
    found = {"benchmark": "archive_kills", "events": arguments.events, "kills": KILLS}
    seconds = round(time.perf_counter() - started)
    print(json.dumps(found | {"seconds": seconds, "rows": rows, "differences": wrong}))
    sys.exit(bool(wrong))


def _first_starts(settings: Settings, lakes: list[Path], chance: random.Random) -> dict[str, Any]:
    """What was killed, and what a second start has made of it."""
    share = len(TABLES) / len(lakes)
    nths = [1 + int((number + chance.random()) * share) for number in range(len(lakes))]
    with ThreadPoolExecutor(AT_ONCE) as several:
        ats = list(several.map(partial(_killed_at, settings), lakes, nths))
        half_made = [_name(log) for lake in lakes for log in _logs(lake) if not _has_commit(log)]
        print(f"half made: {half_made}", file=sys.stderr)
        again = list(several.map(partial(_started_again, settings), lakes))
    Load(settings, 5).fill(0, FEW)
    archiver = settings.archiver.model_copy(update={"path": str(lakes[-1])})
    spark = open_session(settings.archiver, "warren-bench-kills")
    wrong, rows = _proved(spark, settings.model_copy(update={"archiver": archiver}))
    spark.stop()
    return {
        "first_starts": len(lakes),
        "killed_at": ats,
        "half_made": half_made,
        "second_starts": again.count(""),
        "rows": rows,
        "differences": [*filter(None, again), *wrong],
    }


def _killed_at(settings: Settings, lake: Path, nth: int) -> str:
    """Name of the table: the one whose log's folder is the nth in the lake."""
    known: set[Path] = set()
    with running_service("archiver", _config(settings, lake)) as archiver:
        deadline = time.monotonic() + WITHIN
        while len(now := _logs(lake)) < nth:
            known = now
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(known)} tables: {archiver.log.read_text()}")
            time.sleep(0.005)
        _kill(archiver)
    at = ", ".join(sorted(map(_name, now - known)))
    print(f"{lake.name} killed at {at}", file=sys.stderr)
    return at


def _started_again(settings: Settings, lake: Path) -> str:
    """What a second start does not make; "" where all tables are there."""
    with running_service("archiver", _config(settings, lake)) as archiver:
        deadline = time.monotonic() + WITHIN
        while missing := TABLES - {_name(log) for log in _logs(lake) if _has_commit(log)}:
            if time.monotonic() > deadline or not archiver.is_running():
                return f"{lake.name} lacks {sorted(missing)}: {archiver.log.read_text()[-500:]}"
            time.sleep(0.5)
    print(f"{lake.name} has all tables after a second start", file=sys.stderr)
    return ""


def _config(settings: Settings, lake: Path) -> str:
    return CONFIG.format(
        bootstrap=settings.home.bootstrap,
        path=lake,
        jars=settings.archiver.jars_dir,
        batch=settings.archiver.batch_records,
    )


def _logs(lake: Path) -> set[Path]:
    return set(lake.glob("*/*/_delta_log"))


def _has_commit(log: Path) -> bool:
    return any(log.glob("[0-9]*.json"))


def _name(log: Path) -> str:
    return f"{log.parent.parent.name}/{log.parent.name}"


def _parts(events: int) -> list[tuple[int, int]]:
    """One for each kill, and one for after them."""
    marks = [events * number // (KILLS + 1) for number in range(KILLS + 2)]
    return list(pairwise(marks))


def _create_topics(settings: Settings) -> None:
    admin = AdminClient({"bootstrap.servers": settings.home.bootstrap})
    prefix = settings.home.topic_prefix
    new = [NewTopic(t.full_name(prefix), 4, 1, config=t.config()) for t in CATALOGUE]
    for created in admin.create_topics(new, operation_timeout=60).values():
        created.result()


def _live_and_die(config: str, load: Load, first: int, end: int, chance: random.Random) -> None:
    """Killed at some moment after it has begun to archive the part."""
    filling = threading.Thread(target=load.fill, args=(first, end))
    with running_service("archiver", config) as archiver:
        archiver.until(archiver.is_ready, "the archiver is ready")
        filling.start()
        name = "warren_archiver_rows_total"
        archiver.until(lambda: archiver.total(name) > 0, "something is archived")
        time.sleep(chance.uniform(0, 20))
        _kill(archiver)
    filling.join()


def _kill(archiver: ServiceProcess) -> None:
    """And the JVM, which would end a moment later."""
    for pid in [*_children(archiver.pid), archiver.pid]:
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in listed for child in file.read_text().split()]


def _restart(broker: EmbeddedKafka) -> None:
    broker.stop()
    broker.start()


def _proved(spark: SparkSession, settings: Settings) -> tuple[list[str], dict[str, int]]:
    """Differences, and rows by topic and table. All that is left is archived first."""
    clock = SystemClock()
    archive(spark, settings, threading.Event(), once=True, clock=clock)
    wrong: list[str] = []
    rows: dict[str, int] = {}
    for topic in check(spark, settings, wait=0):
        rows[topic.topic] = topic.archived
        if not topic.equal:
            wrong.append(f"{topic.topic}: {dataclasses.asdict(topic)}")
    for table in [*check_silver(spark, settings), *check_gold(spark, settings, clock)]:
        rows[table.table] = table.rows
        wrong += [f"{table.table}: {difference}" for difference in table.differences]
    return wrong, {name: count for name, count in rows.items() if count}


if __name__ == "__main__":
    main()
