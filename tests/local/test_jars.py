"""Fetching, with a shell script in Ivy's place."""

from __future__ import annotations

import hashlib
import io
import threading
from pathlib import Path

import pytest
from rich.console import Console
from support.fake_java import fake_java
from support.waiting import eventually
from warren.settings import LocalSettings
from warren_local.errors import JarMismatch, JarsUnavailable, JavaMissing, Stopped
from warren_local.ivy import Step, first_problem, parse_step
from warren_local.jars import ensure_jars

CONTENT = {"one-1.jar": b"one", "two-2.jar": b"two"}
LOCK = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}
FETCH = 'printf one >"$target/one-1.jar"; printf two >"$target/two-2.jar"; echo x >>"$0.runs"'


@pytest.fixture
def local(tmp_path: Path) -> LocalSettings:
    return LocalSettings(state_dir=str(tmp_path / "state"))


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


def _use(monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    monkeypatch.setenv("JAVA_HOME", str(home))
    return home / "bin" / "java.runs"


def test_jars_are_fetched_once_and_then_reused_without_java(
    tmp_path: Path, local: LocalSettings, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = _use(monkeypatch, fake_java(tmp_path / "java", ivy=FETCH))
    directory = ensure_jars(local, console, lock=LOCK)
    assert {jar.name: jar.read_bytes() for jar in directory.iterdir()} == CONTENT
    _use(monkeypatch, tmp_path / "nowhere")
    assert ensure_jars(local, console, lock=LOCK) == directory
    assert runs.read_text() == "x\n"


def test_an_incomplete_directory_is_fetched_again(
    tmp_path: Path, local: LocalSettings, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, fake_java(tmp_path / "java", ivy=FETCH))
    directory = ensure_jars(local, console, lock=LOCK)
    (directory / "two-2.jar").unlink()
    assert len(list(ensure_jars(local, console, lock=LOCK).iterdir())) == 2


def test_a_tampered_download_is_refused_and_not_kept(
    tmp_path: Path, local: LocalSettings, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, fake_java(tmp_path / "java", ivy=f'{FETCH}; printf bad >"$target/two-2.jar"'))
    with pytest.raises(JarMismatch, match=r"two-2\.jar"):
        ensure_jars(local, console, lock=LOCK)
    assert not list(Path(local.state_dir).rglob("*.jar"))


def test_a_jar_tampered_with_later_is_refused_not_replaced(
    tmp_path: Path, local: LocalSettings, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, fake_java(tmp_path / "java", ivy=FETCH))
    directory = ensure_jars(local, console, lock=LOCK)
    (directory / "one-1.jar").write_bytes(b"changed")
    with pytest.raises(JarMismatch, match=r"one-1\.jar"):
        ensure_jars(local, console, lock=LOCK)


def test_a_given_directory_is_verified_but_never_written(
    tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, tmp_path / "nowhere")
    given = tmp_path / "given"
    given.mkdir()
    local = LocalSettings(state_dir=str(tmp_path / "state"), jars_dir=str(given))
    with pytest.raises(JarsUnavailable, match="2 of 2 jars are missing"):
        ensure_jars(local, console, lock=LOCK)
    for name, data in CONTENT.items():
        (given / name).write_bytes(data)
    assert ensure_jars(local, console, lock=LOCK) == given
    assert sorted(file.name for file in given.iterdir()) == sorted(CONTENT)


def test_a_failure_gives_ivys_reason_and_the_settings_that_help(
    tmp_path: Path, local: LocalSettings, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "module not found: x\n\tServer access error at url http://mirror/ (refused)"
    _use(monkeypatch, fake_java(tmp_path / "java", ivy=f"echo '{says}'; exit 1"))
    with pytest.raises(JarsUnavailable, match="Server access error at url") as failed:
        ensure_jars(local, console, lock=LOCK)
    assert "local.jars_mirror" in str(failed.value)
    assert "\n" not in str(failed.value)


def test_no_java_is_said_before_anything_is_fetched(
    tmp_path: Path, local: LocalSettings, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, tmp_path / "nowhere")
    with pytest.raises(JavaMissing):
        ensure_jars(local, console, lock=LOCK)


def test_fetching_ends_when_told_to_stop(
    tmp_path: Path, local: LocalSettings, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    home = fake_java(tmp_path / "java", ivy=f"touch {started}; exec sleep 600")
    _use(monkeypatch, home)
    stop = threading.Event()
    ended: list[type[BaseException]] = []

    def fetch() -> None:
        try:
            ensure_jars(local, console, lock=LOCK, stop=stop)
        except Stopped as stopped:
            ended.append(type(stopped))

    thread = threading.Thread(target=fetch)
    thread.start()
    eventually(started.exists, message="Ivy runs")
    stop.set()
    thread.join(30)
    assert ended == [Stopped]


def test_a_terminal_shows_counts_by_jar(
    tmp_path: Path, local: LocalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\\tfound org.x#one;1 in central\\n\\t[SUCCESSFUL ] org.x#one;1!one.jar (9ms)\\n"
    _use(monkeypatch, fake_java(tmp_path / "java", ivy=f"{FETCH}; printf '{lines}'"))
    output = io.StringIO()
    ensure_jars(local, Console(file=output, force_terminal=True, width=120), lock=LOCK)
    assert "downloading" in output.getvalue()
    assert "1/2" in output.getvalue()


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("\tfound org.slf4j#slf4j-api;1.7.36 in central", Step("resolving", "slf4j-api")),
        ("\t[SUCCESSFUL ] org.x#y;2!y.jar(bundle) (90ms)", Step("downloading", "y.jar(bundle)")),
        ("downloading https://mirror/y.jar ...", None),
        ("", None),
    ],
)
def test_ivys_lines_that_mean_progress(line: str, step: Step | None) -> None:
    assert parse_step(line) == step


def test_without_a_known_cause_there_is_none() -> None:
    assert first_problem(["all is well"]) == ""
