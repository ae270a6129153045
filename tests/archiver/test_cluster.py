"""warren-archiver with executors of a cluster, as it is told by the settings alone."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from support.archive_events import key, offset_event
from support.other_readers import rows_of
from support.spark_cluster import QUICK, SparkCluster
from warren.contracts.topics import OFFSETS
from warren.kafka.connection import connect
from warren.kafka.topics import ensure_topics
from warren.settings_file import load_settings

pytestmark = pytest.mark.timeout(1200)


def test_executors_of_a_cluster_archive_as_well(
    spark_jars: Path, broker: Any, unique: str, tmp_path: Path
) -> None:
    config = tmp_path / "warren.toml"
    with SparkCluster(tmp_path) as cluster:
        config.write_text(
            f"""
            [home]
            bootstrap = "{broker.bootstrap}"
            topic_prefix = "{unique}."
            partitions = 2
            [archiver]
            path = "{tmp_path / "lake"}"
            jars_dir = "{spark_jars}"
            master = "{cluster.master}"
            memory = "512m"
            [archiver.spark]
            "spark.executor.memory" = "512m"
            "spark.executor.extraJavaOptions" = "{QUICK}"
            """
        )
        settings = load_settings(config)
        ensure_topics(connect("home", "home", settings.home), settings.home)
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        for number in range(100):
            name = OFFSETS.full_name(settings.home.topic_prefix)
            producer.produce(name, offset_event("g", number).to_bytes(), key(f"g{number % 7}"))
        assert producer.flush(30) == 0
        _run(config)
    archiving, upkeep = (_tasks(of) for of in sorted((tmp_path / "work").glob("app-*")))
    assert archiving, "no executor has worked"
    assert 0 < upkeep < 5_000, "it has three tables of a few files"
    archived = rows_of(tmp_path / "lake" / "bronze" / "events", 'topic, "partition", "offset"')
    assert len(set(archived)) == len(archived) == 100


# Two commands in one process: the second one's session is a new one, in a JVM that is warm.
COMMANDS = """
import sys
import pytest
from support.few_tables import only
from warren_cli.main import main
only(pytest.MonkeyPatch())
config = sys.argv[1]
for arguments in (["run", "--once"], ["upkeep"]):
    sys.argv[1:] = ["archive", *arguments, "--config", config]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
"""


def _run(config: Path) -> None:
    command = [sys.executable, "-c", COMMANDS, str(config)]
    environ = {n: text for n, text in os.environ.items() if not n.startswith("WARREN_")}
    environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=1100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _tasks(work: Path) -> int:
    """How many the executors of a job have begun."""
    logs = work.glob("*/stderr")
    return sum(log.read_text().count("Executor: Running task") for log in logs)
