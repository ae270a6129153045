"""What Spark cannot do is told in one line that names the setting, by each command."""

import subprocess
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
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
