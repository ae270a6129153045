"""`warren report` before Spark starts."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner
from warren.errors import SettingsError
from warren_cli.main import app


def _report(tmp_path: Path, html: Path) -> BaseException | None:
    """There are no jars, so that it ends before Spark would start."""
    config = tmp_path / "warren.toml"
    config.write_text(f'[home]\nbootstrap = "a:1"\n[archiver]\njars_dir = "{tmp_path / "none"}"\n')
    result = CliRunner().invoke(app, ["report", "--config", str(config), "--html", str(html)])
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
