"""What the session is configured with, and by whom."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import (
    SparkSession,
    functions as F,  # noqa: N812  # Spark's own convention
)
from warren.errors import SettingsError
from warren.settings import ArchiverSettings
from warren.settings_file import load_settings
from warren_archiver.session import SEMANTICS, given_options, local_configuration
from warren_archiver.submitted import is_submitted


def test_without_jars_the_setting_is_named(tmp_path: Path) -> None:
    for directory in ("", str(tmp_path), str(tmp_path / "nowhere")):
        with pytest.raises(SettingsError) as refused:
            local_configuration(ArchiverSettings(jars_dir=directory), "log4j2.properties")
        assert refused.value.setting == "archiver.jars_dir"


def test_settings_bound_the_local_jvm(tmp_path: Path) -> None:
    for name in ("b.jar", "a.jar"):
        (tmp_path / name).touch()
    archiver = ArchiverSettings(jars_dir=str(tmp_path), master="local[1]", memory="700m")
    configuration = local_configuration(archiver, "/x/log4j2.properties")
    assert configuration["spark.master"] == "local[1]"
    assert configuration["spark.driver.memory"] == "700m"
    assert configuration["spark.ui.enabled"] == "false"
    assert configuration["spark.jars"] == f"{tmp_path / 'a.jar'},{tmp_path / 'b.jar'}"
    assert "/x/log4j2.properties" in configuration["spark.driver.extraJavaOptions"]


def test_spark_submit_is_recognised() -> None:
    assert is_submitted({"PYSPARK_GATEWAY_PORT": "1"})
    assert not is_submitted({})


def test_a_running_session_has_them(spark: SparkSession) -> None:
    assert {name: spark.conf.get(name) for name in SEMANTICS} == SEMANTICS
    assert spark.conf.get("spark.master") == "local[2]"


def test_rows_that_take_little_room_in_a_file_are_not_held_in_memory_as_a_whole(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """3 MB as stored, 200 MB and more as rows: several tables of these were more than the heap."""
    alike = spark.range(2_000_000).select("id", F.lit("group-1" * 8).alias("name"))
    alike.write.parquet(str(tmp_path / "alike"))
    stored = sum(file.stat().st_size for file in (tmp_path / "alike").glob("*.parquet"))
    assert 2**20 < stored < 10 * 2**20
    alike = spark.read.parquet(str(tmp_path / "alike"))
    joined = spark.range(5).join(alike, "id", "left")
    joined.explain()
    assert "BroadcastHashJoin" not in capsys.readouterr().out
    few = spark.range(5).join(alike.limit(100), "id", "left")
    few.explain()
    assert "BroadcastHashJoin" in capsys.readouterr().out


def test_columns_do_not_look_up_where_they_were_made(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is most of what building a query costs."""
    looked_up: list[int] = []
    monkeypatch.setattr("pyspark.errors.utils._capture_call_site", looked_up.append)
    assert spark.range(2).where(F.col("id") + F.lit(1) > 1).count() == 1
    assert not looked_up


def test_without_java_one_is_told_what_to_install(tmp_path: Path) -> None:
    """In a process of its own: this one may have a session."""
    (tmp_path / "a.jar").touch()
    code = "from warren.settings import ArchiverSettings; import sys;"
    code += "from warren_archiver.errors import SparkUnavailable;"
    code += "from warren_archiver.session import open_session\n"
    code += "try: open_session(ArchiverSettings(jars_dir=sys.argv[1]), 'test')\n"
    code += "except SparkUnavailable as problem: print(problem)"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=os.environ | {"JAVA_HOME": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Java 17" in ran.stdout
    assert "archiver.memory (1g) and archiver.java_options" in ran.stdout
    assert str(tmp_path / "nowhere") in ran.stdout


def test_options_are_sparks_or_hadoops_and_secrets_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    config = tmp_path / "warren.toml"
    config.write_text(
        f"""
        [home]
        bootstrap = "a:1"
        [archiver.spark]
        "spark.executor.memory" = "2g"
        "spark.sql.shuffle.partitions" = 8
        "fs.s3a.endpoint" = "http://minio:9000"
        "fs.s3a.secret.key_file" = "{tmp_path / "secret"}"
        """
    )
    archiver = load_settings(config).archiver
    assert given_options(archiver) == {
        "spark.executor.memory": "2g",
        "spark.sql.shuffle.partitions": "8",
        "spark.hadoop.fs.s3a.endpoint": "http://minio:9000",
        "spark.hadoop.fs.s3a.secret.key": "s3cret",
    }
    assert "s3cret" not in repr(archiver)


def test_what_results_depend_on_cannot_be_set() -> None:
    archiver = ArchiverSettings.model_validate({"spark": {"spark.sql.session.timeZone": "CET"}})
    with pytest.raises(SettingsError) as refused:
        given_options(archiver)
    assert refused.value.setting == "archiver.spark.spark.sql.session.timeZone"


def test_only_a_local_driver_is_pinned_to_loopback(tmp_path: Path) -> None:
    (tmp_path / "a.jar").touch()
    for master, pinned in (("local[2]", True), ("spark://there:7077", False)):
        archiver = ArchiverSettings(jars_dir=str(tmp_path), master=master)
        assert ("spark.driver.host" in local_configuration(archiver, "log4j2")) is pinned
