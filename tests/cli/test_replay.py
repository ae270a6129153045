"""`warren replay`: what it refuses, before it has fetched or read anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner
from warren.errors import SettingsError
from warren_cli.main import app


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        (["--policy", "guess"], "--policy"),
        (["--set", "evaluation.policy=guess"], "--set evaluation.policy"),
        (["--set", "evaluation.intervals=0"], "--set evaluation.intervals"),
        (["--set", "intervals=20"], "--set"),
        (["--last", "1y"], "--last"),
        (["--warm-up", "1y"], "--warm-up"),
        (["--from", "yesterday"], "--from"),
        (["--to", "tomorrow"], "--to"),
        (["--from", "2026-11-22", "--to", "2026-11-21"], "--from"),
        (["--group", "("], "--group"),
        (["--groups", "("], "--group"),
        (["--group", "(?=x)"], "--group"),
        (["--labels", "/none.toml"], "--labels"),
        (["--suggest", "--objectives", "/none.toml"], "--suggest"),
        (["--suggest", "--labels", "/none.toml"], "--labels"),
        (["--objectives", "/none.toml", "--labels", "/none.toml"], "--labels"),
        (["--last", "1h", "--from", "2026-11-21"], "--last"),
    ],
)
def test_the_option_that_is_wrong_is_named(
    tmp_path: Path, arguments: list[str], setting: str
) -> None:
    config, jars = tmp_path / "warren.toml", tmp_path / "jars"
    config.write_text(f'[archiver]\npath = "{tmp_path / "none"}"\n')
    where = {"WARREN_LOCAL__JARS_DIR": str(jars), "HOME": str(tmp_path)}
    result = CliRunner().invoke(app, ["replay", "--config", str(config), *arguments], env=where)
    assert isinstance(result.exception, SettingsError)
    assert result.exception.setting == setting
    assert list(tmp_path.iterdir()) == [config]  # nothing was fetched
