"""`warren report` and `warren replay`: what they refuse before anything is fetched or read."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner
from warren.errors import SettingsError
from warren_archiver.errors import NothingArchived
from warren_cli.commands.report import writing
from warren_cli.main import app
from warren_cli.spark import spark_settings


def refused(tmp_path: Path, *arguments: str) -> BaseException | None:
    """There is no lake."""
    config = tmp_path / "warren.toml"
    config.write_text(f'[home]\nbootstrap = "a:1"\n[archiver]\npath = "{tmp_path / "none"}"\n')
    where = {
        "WARREN_CONFIG": str(config),
        "WARREN_LOCAL__JARS_DIR": str(tmp_path / "jars"),
        "HOME": str(tmp_path),
    }
    result = CliRunner().invoke(app, arguments, env=where)
    assert result.exit_code != 0
    return result.exception


@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("report --day 2026-13-01", "--day"),
        ("report --day 9999-12-31", "--day"),
        ("report --week 2026-47", "--week"),
        ("report --last 1y", "--last"),
        ("report --last 1h --day 2026-11-21", "--last"),
        ("report --day 2026-11-21 --until 0", "--until"),
        ("report --day 3026-11-21", "--day"),
        ("report --week 3026-W47", "--week"),
        ("report --last 1h --until 3026-11-21", "--until"),
        ("replay --policy guess", "--policy"),
        ("replay --set evaluation.policy=guess", "--set evaluation.policy"),
        ("replay --set evaluation.intervals=0", "--set evaluation.intervals"),
        ("replay --set intervals=20", "--set"),
        ("replay --last 1y", "--last"),
        ("replay --warm-up 1y", "--warm-up"),
        ("replay --from yesterday", "--from"),
        ("replay --to tomorrow", "--to"),
        ("replay --from 2026-11-22 --to 2026-11-21", "--from"),
        ("replay --group (", "--group"),
        ("replay --groups (", "--group"),
        ("replay --group (?=x)", "--group"),
        ("replay --last 1h --from 2026-11-21", "--last"),
    ],
)
def test_the_option_that_is_wrong_is_named(tmp_path: Path, command: str, setting: str) -> None:
    found = refused(tmp_path, *command.split())
    assert isinstance(found, SettingsError)
    assert found.setting == setting
    assert [path.name for path in tmp_path.iterdir()] == ["warren.toml"]  # nothing was fetched


def test_a_page_may_be_in_a_folder_that_is_not_there_yet_but_not_just_anywhere(
    tmp_path: Path,
) -> None:
    found = refused(
        tmp_path, "report", "--as-is", "--html", str(tmp_path / "reports" / "today" / "a.html")
    )
    assert isinstance(found, NothingArchived)
    assert "warren archive run" in str(found)
    assert (tmp_path / "reports" / "today").is_dir()
    (tmp_path / "file").touch()
    for html in (tmp_path, tmp_path / "file" / "report.html"):
        found = refused(tmp_path, "report", "--as-is", "--html", str(html))
        assert isinstance(found, SettingsError)
        assert found.setting == "--html"
    with pytest.raises(SettingsError, match=r"^--html: No space left"), writing("--html"):
        Path("/dev/full").write_text("page", encoding="utf-8")


def test_a_report_asks_for_no_jvm() -> None:
    """What the command imports starts none, and takes no second to load."""
    code = "import sys, warren_archiver.report.make, warren_archiver.report.page; "
    code += "sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
