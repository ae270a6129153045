"""What the session is configured with, and by whom."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from warren.errors import SettingsError
from warren.settings import ArchiverSettings
from warren_archiver.session import SEMANTICS, is_submitted, local_configuration


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
    assert configuration["spark.jars"] == f"{tmp_path / 'a.jar'},{tmp_path / 'b.jar'}"
    assert "/x/log4j2.properties" in configuration["spark.driver.extraJavaOptions"]


def test_what_results_depend_on_never_comes_from_outside() -> None:
    assert not [name for name in SEMANTICS if "memory" in name or "master" in name]


def test_spark_submit_is_recognised() -> None:
    assert is_submitted({"PYSPARK_GATEWAY_PORT": "1"})
    assert not is_submitted({})


def test_a_running_session_has_them(spark: SparkSession) -> None:
    assert {name: spark.conf.get(name) for name in SEMANTICS} == SEMANTICS
    assert spark.sparkContext.master == "local[2]"
