"""Where commands look for the API when nobody says."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner
from warren.api_address import api_address
from warren.settings.api import ApiSettings
from warren.settings.services import LocalSettings
from warren_cli.api_place import STATE_DIR, api_in_force, settings_file
from warren_cli.main import app
from warren_local.run_file import RunFile, RunState

UP = "http://127.0.0.1:9123"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith("WARREN_"):
            monkeypatch.delenv(name)


def runs_here(supervisor: int, folder: str = STATE_DIR) -> None:
    Path(folder).mkdir()
    RunFile(Path(folder)).write(RunState(UP, "k", "k", "r", "demo", supervisor))


def gone() -> int:
    """The number of a process that has ended."""
    return os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[0]


def test_without_settings_it_is_where_settings_have_it_by_default() -> None:
    assert api_in_force(None) == api_address() == ApiSettings().address
    assert LocalSettings().state_dir == STATE_DIR
    assert settings_file(None) is None


@pytest.mark.parametrize(("is_there", "where"), [(True, UP), (False, api_address())])
def test_a_run_in_this_folder_is_found_unless_it_was_killed(is_there: bool, where: str) -> None:
    """It may have been started with a file that lies somewhere else."""
    runs_here(os.getpid() if is_there else gone())
    assert api_in_force(None) == where
    assert settings_file(None) == (Path(STATE_DIR, "warren.toml") if is_there else None)
    assert settings_file(Path("far.toml")) == Path("far.toml")


@pytest.mark.parametrize("text", ["", "{}", json.dumps({"supervisor": "x"}), "[1]"])
def test_a_file_that_is_no_run(text: str) -> None:
    Path(STATE_DIR).mkdir()
    Path(STATE_DIR, "run.json").write_text(text)
    assert api_in_force(None) == api_address()


def test_settings_say_where_runs_are_and_what_else_is_asked() -> None:
    Path("warren.toml").write_text("[api]\nport = 9001\n[local]\nstate_dir = 'runs'\n")
    assert api_in_force(None) == "http://127.0.0.1:9001"
    runs_here(os.getpid(), "runs")
    assert api_in_force(None) == UP
    assert settings_file(None) == Path("runs", "warren.toml")


def test_a_file_or_a_variable_that_somebody_names_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("far.toml").write_text("[api]\nport = 9001\n")
    monkeypatch.setenv("WARREN_API__PORT", "9002")
    assert api_in_force(None) == "http://127.0.0.1:9002"
    monkeypatch.delenv("WARREN_API__PORT")
    runs_here(os.getpid())
    assert api_in_force(Path("far.toml")) == "http://127.0.0.1:9001"
    monkeypatch.setenv("WARREN_CONFIG", "far.toml")
    assert api_in_force(None) == "http://127.0.0.1:9001"
    assert settings_file(None) is None


def test_commands_read_the_settings_of_the_run() -> None:
    words = ["notify", "explain", "--cluster", "prod", "--group", "web"]
    runs_here(os.getpid())
    route = "[[notifier.routes]]\nname = 'night'\nchannels = ['mail']\n"
    channel = "[notifier.channels.mail]\ntype = 'webhook'\nurl = 'http://127.0.0.1:9/'\n"
    Path(STATE_DIR, "warren.toml").write_text(f"[api]\nport = 1\n{channel}{route}")
    said = CliRunner().invoke(app, words).output
    assert "night: yes" in said
    assert "127.0.0.1:1" in said
