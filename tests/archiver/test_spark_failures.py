"""What Spark cannot do is told in one line that names the setting, by each command."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from warren.errors import SettingsError
from warren_archiver.errors import ArchiveFailed, spark_cause
from warren_archiver.lake.lake import Lake
from warren_archiver.spark_failures import told_by_spark

pytestmark = pytest.mark.timeout(1800)


def test_a_file_system_without_its_jars_names_the_setting(spark: SparkSession) -> None:
    for url in ("s3a://bucket/lake", "nosuch://there/lake"):
        with pytest.raises(SettingsError) as refused, told_by_spark(url):
            Lake.at(url).ensure(spark)
        assert refused.value.setting == "archiver.spark"
        assert "spark.jars" in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_lake_that_cannot_be_written_names_its_path(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = str(tmp_path / "file" / "lake")
    with pytest.raises(ArchiveFailed) as failed, told_by_spark(path):
        Lake.at(path).ensure(spark)
    assert f"archiver.path {path}" in str(failed.value)
    assert "\n" not in str(failed.value)
    assert "at org.apache" not in str(failed.value)


def test_a_damaged_file_is_named(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "rows")
    spark.range(1000).coalesce(1).write.parquet(path)
    (file,) = tmp_path.glob("rows/*.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + bytes(len(whole) - 600) + whole[-596:])
    with pytest.raises(ArchiveFailed) as failed, told_by_spark(path):
        spark.read.parquet(path).groupBy("id").count().collect()
    assert file.name in str(failed.value)
    assert "\n" not in str(failed.value)


def test_what_python_raised_in_a_task_is_its_last_line(spark: SparkSession) -> None:
    def fail(_: int) -> int:
        raise ValueError("no such thing")

    with pytest.raises((PySparkException, Py4JError)) as failed:
        spark.sparkContext.parallelize([1], 1).map(fail).collect()
    assert spark_cause(failed.value) == "ValueError: no such thing"


def test_a_command_ends_in_one_line(spark_jars: Path, tmp_path: Path) -> None:
    config = tmp_path / "warren.toml"
    config.write_text(
        f"""
        [home]
        bootstrap = "nobody:1"
        [archiver]
        path = "s3a://bucket/lake"
        jars_dir = "{spark_jars}"
        """
    )
    command = [sys.executable, "-m", "warren_cli.main", "archive", "upkeep"]
    ended = subprocess.run(
        [*command, "--config", str(config)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2, ended.stderr
    assert "[archiver.spark]" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    assert "at org.apache" not in ended.stderr


class _Caused(PySparkException):
    """As Spark's Python keeps the causes of what Java threw."""

    def __init__(self, text: str, cause: Exception | None = None) -> None:
        super().__init__(text)
        self._cause = cause


def test_the_innermost_cause_is_named() -> None:
    """A full disk, as a real one was told: the text that Spark gives says nothing of it."""
    disk = _Caused("java.io.IOException: No space left on device")
    task = _Caused("[TASK_WRITE_FAILED] Task failed while writing rows. SQLSTATE: 58030", disk)
    query = _Caused(f"{task}\n=== Streaming Query ===\nIdentifier: 7", task)
    assert spark_cause(query) == f"{task}: java.io.IOException: No space left on device"
    assert spark_cause(_Caused("refused", _Caused("refused"))) == "refused"


@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (PySparkException("no disk"), "no disk (archiver.path /lake)"),
        (
            PySparkException("[DELTA_CONCURRENT_TRANSACTION] ConcurrentTransactionException: Th"),
            "another archiver writes to /lake (archiver.path): stop one of them",
        ),
        (Py4JNetworkError("Answer from Java side is empty"), "JVM has ended"),
    ],
)
def test_the_line_names_the_lake_or_what_else_is_wrong(raised: Exception, line: str) -> None:
    with pytest.raises(ArchiveFailed, match=re.escape(line)), told_by_spark("/lake"):
        raise raised
