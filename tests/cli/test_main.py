"""The command as a whole: every subcommand is there, and none pays for the libraries of another."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warren_cli.commands
from typer.testing import CliRunner
from warren.entry import own_version
from warren_cli.main import COMMANDS, app

NO_COMMANDS = {"__init__", "options"}


def test_every_module_of_commands_is_a_command_with_help() -> None:
    folder = Path(warren_cli.commands.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - NO_COMMANDS
    assert modules == set(COMMANDS)
    for name in sorted(modules):
        result = CliRunner().invoke(app, [name, "--help"])
        assert result.exit_code == 0, result.output
        assert f" {name} [OPTIONS]" in result.output
        # `warren --help` says it without importing the command.
        assert COMMANDS[name].help in " ".join(result.output.split())


def test_tables_of_settings_are_named_in_full() -> None:
    shown = CliRunner().invoke(app, ["notify", "test", "--help"]).output
    assert "[[notifier.routes]]" in shown
    assert "default: [api]" in " ".join(shown.replace("│", " ").split())


def test_it_says_which_version_it_is() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"warren {own_version()}\n")


@pytest.mark.parametrize("words", [("silence", "end"), ("get", "groups"), ("status", "--cluster")])
def test_bytes_that_are_no_text_are_refused(words: tuple[str, str]) -> None:
    command = [sys.executable, "-m", "warren_cli.main", *words, b"\xff", "--api"]
    ended = subprocess.run(
        [*command, "http://127.0.0.1:1"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (2, "warren: \\udcff: is no UTF-8\n")


HEAVY = {
    "pyspark",
    "numpy",
    "confluent_kafka",
    "structlog",
    "yaml",
    "warren.contracts",
    "warren.settings",
}


def loaded_by(arguments: list[str], folder: Path, heavy: set[str]) -> set[str]:
    """Which modules of `heavy` the command imports where there are no settings."""
    code = (
        "import sys\n"
        "from warren_cli.main import main\n"
        f"sys.argv[1:] = {arguments}\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print('loaded', *sys.modules)\n"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WARREN_")}
    shown = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    last = shown.stdout.splitlines()[-1].split()
    assert last[0] == "loaded", shown.stderr
    assert "warren_cli.main" in last
    return heavy & set(last)


ALONE = "http://127.0.0.1:1"


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_what_is_said_of_commands_loads_none(option: str, tmp_path: Path) -> None:
    """Typer loads pydantic for options that have a type of their own."""
    loaded = loaded_by([option], tmp_path, HEAVY | {"pydantic", "httpx", "warren_cli.commands"})
    assert loaded == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["status", "--help"],
        ["status", "--api", ALONE],
        ["get", "groups", "--api", ALONE],
        ["describe", "group", "a/b", "--api", ALONE],
        ["events", "--api", ALONE],
        ["silence", "list", "--api", ALONE],
        ["ack", "x", "--api", ALONE],
        ["status"],  # finds where to ask
    ],
    ids=" ".join,
)
def test_what_asks_the_api_loads_neither_settings_nor_services(
    arguments: list[str], tmp_path: Path
) -> None:
    assert loaded_by(arguments, tmp_path, HEAVY | {"httpx"}) == set()


WINDOW = '{"name": "w", "now_s": 1, "current_lag": 0, "broker_head_offsets": [], "offsets": []}'


def test_a_reader_that_has_enough_is_no_failure() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "warren_cli.main", "evaluate"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(f"{WINDOW}\n" * 10, timeout=60)
    assert (process.returncode, said) == (0, "")
