"""`warren report` archives what is new before it reads; a test plays the pass."""

import sys
from pathlib import Path

import pytest
from support.archive_events import lag_event
from support.lake_files import write_table
from support.report_lake import moment
from typer.testing import CliRunner, Result
from warren.clock import SystemClock
from warren.settings_file import load_settings
from warren_archiver.errors import NothingArchived
from warren_archiver.passes import parent
from warren_cli.main import app

COLUMNS = {"topic": "VARCHAR", "key": "BLOB", "value": "BLOB", "timestamp": "TIMESTAMPTZ"}
FAILS = """
import sys
sys.exit("warren-archiver: cluster home: no broker answers")
"""


def _archive(lake: Path) -> None:
    at = SystemClock().now_ms() - 60_000
    row = {"topic": "warren.lag", "key": b"prod|billing"}
    rows = [
        row | {"value": lag_event("billing", then, "ERR", 7).to_bytes(), "timestamp": moment(then)}
        for then in (at, at + 30_000)
    ]
    write_table(lake, "bronze/events", COLUMNS, rows)


def _report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, *options: str) -> Result:
    config = tmp_path / "warren.toml"
    config.write_text(f'[archiver]\npath = "{tmp_path / "lake"}"\n')
    script = tmp_path / "begun"
    command = [sys.executable, "-c", f"open({str(script)!r}, 'w').close()\n{program}"]
    monkeypatch.setattr("warren_cli.commands.report.spark_settings", load_settings)
    monkeypatch.setattr(parent, "pass_command", lambda _: command)
    return CliRunner().invoke(app, ["report", "--config", str(config), *options])


def test_a_pass_comes_first_and_the_report_has_what_it_archived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _archive(tmp_path / "other")
    program = f"import os; os.rename({str(tmp_path / 'other')!r}, {str(tmp_path / 'lake')!r})"
    made = _report(tmp_path, monkeypatch, program)
    assert made.exit_code == 0, made.output
    assert "billing" in made.stdout
    assert "archiving what is new" in made.stderr
    assert "archiving" not in made.stdout


def test_where_that_fails_it_says_so_and_reports_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _archive(tmp_path / "lake")
    made = _report(tmp_path, monkeypatch, FAILS)
    assert made.exit_code == 0, made.output
    assert "billing" in made.stdout
    assert "no broker answers" in made.stderr
    assert made.stderr.splitlines()[-1] == "warren: this is of what was archived before"


@pytest.mark.parametrize("options", [["--as-is"], ["--day", "2026-11-21"]])
def test_none_is_needed_where_nobody_wants_it_or_nothing_can_be_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    made = _report(tmp_path, monkeypatch, FAILS, *options)
    assert isinstance(made.exception, NothingArchived)
    assert not (tmp_path / "begun").exists()
