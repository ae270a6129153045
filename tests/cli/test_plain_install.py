"""The plain command, from its wheels in an empty environment: small, and it says what it lacks."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = [sys.executable, "-m", "uv", "--quiet", "--no-progress"]
LIMIT = 60_000_000  # bytes, bytecode included
# What an installation says that finds neither a cached package nor an index.
NO_INDEX = ("Failed to fetch", "Could not connect", "network was disabled", "error sending request")
NOT_PLAIN = {"numpy", "pyspark", "duckdb", "deltalake", "aiokafka", "pillow", "warren-notifier"}


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def locked() -> str:
    """The locked dependencies of the plain command, without those of the workspace."""
    options = ("--frozen", "--no-dev", "--no-emit-workspace", "--package", "warren-cli")
    exported = run(*UV[:3], "export", "--no-progress", *options)
    assert exported.returncode == 0, exported.stderr
    return exported.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("warren-shared", "warren-cli"):
        built = run(*UV, "build", "--wheel", "--package", name, "--out-dir", folder)
        assert built.returncode == 0, built.stderr
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment's folder."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "locked.txt").write_text(locked())
    made = run(*UV, "venv", "--python", sys.executable, folder / "venv")
    assert made.returncode == 0, made.stderr
    into = (*UV, "pip", "install", "--compile-bytecode", "--python", folder / "venv/bin/python")
    got = run(*into, "--requirements", folder / "locked.txt")
    if any(sign in got.stderr for sign in NO_INDEX):
        pytest.skip(f"no package index is reachable: {got.stderr.strip().splitlines()[-1]}")
    assert got.returncode == 0, got.stderr
    got = run(*into, "--no-deps", "--offline", *wheels)
    assert got.returncode == 0, got.stderr
    return folder / "venv"


def test_the_lock_gives_the_plain_command_nothing_of_the_services() -> None:
    names = {line.partition("==")[0] for line in locked().splitlines()}
    assert "typer" in names
    assert not names & NOT_PLAIN


def test_wheels_hold_the_runtime_and_nothing_else(wheels: list[Path]) -> None:
    packages = {
        entry.partition("/")[0]
        for wheel in wheels
        for entry in zipfile.ZipFile(wheel).namelist()
        if ".dist-info/" not in entry
    }
    assert packages == {"warren", "warren_core", "warren_wire", "warren_cli"}


def test_it_is_small(installed: Path) -> None:
    files = [path for path in installed.rglob("*") if path.is_file() and not path.is_symlink()]
    assert 10_000_000 < sum(path.stat().st_size for path in files) <= LIMIT


def test_its_help_lists_every_command(installed: Path) -> None:
    shown = run(installed / "bin/warren", "--help")
    assert shown.returncode == 0, shown.stderr
    assert "needs the extra local" in shown.stdout  # of `up`
    for name in ("status", "get", "describe", "events", "config", "up", "evaluate", "replay"):
        assert f" {name} " in shown.stdout


@pytest.mark.parametrize(
    "command",
    [("status",), ("get", "groups"), ("events",)],
)
def test_without_an_api_it_says_so(installed: Path, command: tuple[str, ...]) -> None:
    ended = run(installed / "bin/warren", *command, "--api", "http://127.0.0.1:1")
    assert ended.returncode == 1
    assert ended.stderr.startswith("warren: ")
    assert "127.0.0.1:1" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_settings_are_checked_and_imported(installed: Path, tmp_path: Path) -> None:
    settings = tmp_path / "warren.toml"
    settings.write_text("[home]\nbootstrap = 'localhost:9092'\n")
    checked = run(installed / "bin/warren", "config", "check", "--config", settings)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "settings are valid" in checked.stdout
    made = run(installed / "bin/warren", "token", "--name", "grafana")
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("up",), "local"),
        (("evaluate", "-"), "services"),
        (("notify", "explain", "--cluster", "c", "--group", "g"), "services"),
        (("report", "--last", "1h"), "archive"),
        (("archive", "check"), "archive"),
    ],
)
def test_a_command_without_its_extra_names_it(
    installed: Path, command: tuple[str, ...], extra: str
) -> None:
    ended = run(installed / "bin/warren", *command)
    (line,) = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert line.startswith(f"warren: `warren {command[0]}` needs ")
    assert line.endswith(f": pip install 'warren-cli[{extra}]'")


def test_channels_are_checked_by_the_notifier_only(installed: Path, tmp_path: Path) -> None:
    settings = tmp_path / "warren.toml"
    settings.write_text(
        "[home]\nbootstrap = 'localhost:9092'\n"
        "[notifier.channels.hook]\ntype = 'webhook'\nurl = 'http://example.com/'\n"
        "secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'\n"
    )
    checked = run(installed / "bin/warren", "config", "check", "--config", settings)
    assert checked.returncode == 2
    assert checked.stderr.splitlines()[-1].endswith("pip install 'warren-cli[services]'")
