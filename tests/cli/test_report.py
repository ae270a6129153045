"""`warren report`: what it refuses, before it has read anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner
from warren.errors import SettingsError
from warren_archiver.errors import NothingArchived
from warren_cli.commands.report import writing
from warren_cli.main import app


def _report(tmp_path: Path, html: Path) -> BaseException | None:
    """There is no lake."""
    return _refused(tmp_path, "--html", str(html))


def _refused(tmp_path: Path, *arguments: str) -> BaseException | None:
    config = tmp_path / "warren.toml"
    config.write_text(f'[home]\nbootstrap = "a:1"\n[archiver]\npath = "{tmp_path / "none"}"\n')
    result = CliRunner().invoke(app, ["report", "--config", str(config), *arguments])
    assert result.exit_code != 0
    return result.exception


def test_the_page_may_be_in_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    _report(tmp_path, tmp_path / "reports" / "today" / "report.html")
    assert (tmp_path / "reports" / "today").is_dir()


def test_a_place_where_no_page_can_be_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for html in (tmp_path, tmp_path / "file" / "report.html"):
        refused = _report(tmp_path, html)
        assert isinstance(refused, SettingsError)
        assert refused.setting == "--html"


def test_an_empty_archive_says_what_to_do(tmp_path: Path) -> None:
    refused = _refused(tmp_path, "--last", "24h")
    assert isinstance(refused, NothingArchived)
    assert "warren archive run" in str(refused)


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        (["--day", "2026-13-01"], "--day"),
        (["--day", "9999-12-31"], "--day"),
        (["--week", "2026-47"], "--week"),
        (["--last", "1y"], "--last"),
        (["--last", "1h", "--day", "2026-11-21"], "--last"),
        (["--day", "2026-11-21", "--until", "0"], "--until"),
        (["--day", "3026-11-21"], "--day"),
        (["--week", "3026-W47"], "--week"),
        (["--last", "1h", "--until", "3026-11-21"], "--until"),
    ],
)
def test_a_period_that_cannot_be_is_refused(
    tmp_path: Path, arguments: list[str], setting: str
) -> None:
    refused = _refused(tmp_path, *arguments)
    assert isinstance(refused, SettingsError)
    assert refused.setting == setting


def test_no_jvm_is_asked_for() -> None:
    """What the command imports starts none, and takes no second to load."""
    code = "import sys, warren_archiver.report.make, warren_archiver.report.page; "
    code += "sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_disk_that_is_full_is_said_in_one_line() -> None:
    with pytest.raises(SettingsError, match="No space left") as refused, writing("--html"):
        Path("/dev/full").write_text("page", encoding="utf-8")
    assert refused.value.setting == "--html"
