"""What Spark's commands need before there is a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from warren_cli.spark import spark_settings


def test_nothing_is_fetched_under_spark_submit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has jars of its own, and perhaps no way to ours."""
    config = tmp_path / "warren.toml"
    config.write_text("")
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setenv("WARREN_LOCAL__JARS_DIR", str(tmp_path / "jars"))
    assert spark_settings(config).archiver.jars_dir == ""
    assert list(tmp_path.iterdir()) == [config]
