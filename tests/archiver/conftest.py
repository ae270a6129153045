"""One Spark session, in one JVM, for all tests of the archiver."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from support.archive_lab import Archive
from support.processes import spark_jvm
from support.servers import jars_directory
from warren.contracts.topics import LAG, OFFSETS
from warren.settings import ArchiverSettings, Settings
from warren.settings.services import QUICK_START
from warren_archiver.amount import LITTLE
from warren_archiver.lake.lake import Lake
from warren_archiver.refining.refine import ensure as ensure_refined
from warren_archiver.session import open_session
from warren_local.jars import SPARK_JARS

FREE = "spark.sql.leafNodeDefaultParallelism"
"""The only one of these that a test sees change."""
# Most of what a query of a few rows costs is that its plan is optimised again at each stage, and
# sent to tasks: the plan stays as it is, and one task has all rows of a stage.
FEW_TASKS = {name: text for name, text in LITTLE.items() if name != FREE} | {
    "spark.default.parallelism": "1"
}

# Memory from the beginning, instead of a collection of all of it whenever a little more is needed.
ROOM = "-Xms512m"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pyspark leaves the socket over which it fetches rows to the garbage collector."""
    unclosed = pytest.mark.filterwarnings(r"ignore:unclosed <socket\.socket:ResourceWarning")
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(unclosed)


@pytest.fixture(scope="session")
def spark_jars(pytestconfig: pytest.Config) -> Path:
    """Spark's jars, shared with `warren archive`: under the repository's .warren, or as set."""
    return jars_directory(pytestconfig.rootpath, SPARK_JARS)


@pytest.fixture(scope="session")
def spark(spark_jars: Path) -> Iterator[SparkSession]:
    java_options = f"{QUICK_START} {ROOM}"
    settings = {"jars_dir": str(spark_jars), "java_options": java_options, "spark": FEW_TASKS}
    session = open_session(ArchiverSettings.model_validate(settings), "warren-tests")
    jvm = spark_jvm()
    yield session
    session.stop()
    # It would live as long as this process, beside the brokers of the tests to come.
    jvm.terminate()
    jvm.wait(30)


@pytest.fixture(scope="session")
def prepared(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake whose tables have no rows, one for all workers: to create a table
    takes half a second."""
    base = tmp_path_factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "prepared"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            lake = Lake.at(str(path.with_suffix(".begun")))
            lake.ensure(spark)
            ensure_refined(spark, lake)
            path.with_suffix(".begun").rename(path)
    return path


@pytest.fixture
def lake(prepared: Path, tmp_path: Path) -> Lake:
    """One's own, at `tmp_path`."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return Lake.at(str(tmp_path))


@pytest.fixture
def lab(
    spark: SparkSession,
    broker: Any,
    prepared: Path,
    unique: str,
    tmp_path: Path,
) -> Archive:
    """An archive of one's own, in a lake that somebody began to archive to before any test."""
    shutil.copytree(prepared, tmp_path / "a lake")
    settings = Settings.model_validate(
        {
            "home": {"bootstrap": broker.bootstrap, "topic_prefix": f"{unique}."},
            "archiver": {"path": str(tmp_path / "a lake")},
        }
    )
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    # One request at a time: what is sent again would come after what followed it.
    options = {"bootstrap.servers": broker.bootstrap, "max.in.flight": 1}
    producer = Producer({**options, "compression.type": "lz4"})
    lab = Archive(spark, settings, admin, producer)
    for topic in (OFFSETS, LAG):
        lab.create(topic)
    return lab
