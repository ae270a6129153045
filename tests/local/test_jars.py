"""Locks, and fetching with a shell script in Ivy's and in Java's place."""

import hashlib
import io
import threading
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console
from support.waiting import eventually
from warren.settings import Settings
from warren_local.errors import JarMismatch, JarsUnavailable, JavaMissing, Stopped
from warren_local.jar_sets import JAR_SETS, KAFKA_JARS, SPARK_JARS, parse, render, verify
from warren_local.jars import ensure_jars, find_java, first_problem, major_version

CONTENT = {"one-1.jar": b"one", "two-2.jar": b"two"}
LOCK = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}
FETCH = 'printf one >"$target/one-1.jar"; printf two >"$target/two-2.jar"; echo x >>"$0.runs"'


def fake_java(
    home: Path, *, version: str = 'openjdk version "17.0.15" 2025-04-15', ivy: str = "exit 0"
) -> Path:
    """A JAVA_HOME whose java prints a version and otherwise runs `ivy` with $target set."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f"[ \"$1\" = -version ] && {{ echo '{version}' >&2; exit 0; }}\n"
        'for argument; do [ "$last" = -retrieve ] && target=${argument%/*}; last=$argument; done\n'
        f"{ivy}\n"
    )
    program.chmod(0o755)
    return home


@pytest.fixture
def ivy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a script in Ivy's place; gives the file that FETCH notes its runs in."""

    def use(script: str) -> Path:
        home = fake_java(tmp_path / f"java-{len(list(tmp_path.iterdir()))}", ivy=script)
        monkeypatch.setenv("JAVA_HOME", str(home))
        return home / "bin" / "java.runs"

    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    return use


@pytest.fixture
def fetch(tmp_path: Path) -> Callable[..., Path]:
    def run(stop: threading.Event | None = None, given: str = "") -> Path:
        local = {"state_dir": str(tmp_path / "state"), "jars_dir": given}
        console = Console(file=io.StringIO())
        settings = Settings.model_validate({"local": local})
        return ensure_jars(KAFKA_JARS, settings, console, lock=LOCK, stop=stop)

    return run


def test_jars_are_fetched_once_or_when_some_are_missing_and_then_reused_without_java(
    ivy: Callable[[str], Path], fetch: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = ivy(FETCH)
    directory = fetch()
    assert {jar.name: jar.read_bytes() for jar in directory.iterdir()} == CONTENT
    (directory / "two-2.jar").unlink()
    assert len(list(fetch().iterdir())) == 2
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert fetch() == directory
    assert runs.read_text() == "x\nx\n"


def test_what_is_tampered_with_is_refused_not_kept_and_not_replaced(
    tmp_path: Path, ivy: Callable[[str], Path], fetch: Callable[..., Path]
) -> None:
    ivy(f'{FETCH}; printf bad >"$target/two-2.jar"')
    with pytest.raises(JarMismatch, match=r"two-2\.jar"):
        fetch()
    assert not list(tmp_path.rglob("*.jar"))
    ivy(FETCH)
    (fetch() / "one-1.jar").write_bytes(b"changed")
    with pytest.raises(JarMismatch, match=r"one-1\.jar"):
        fetch()


@pytest.mark.usefixtures("ivy")
def test_a_given_directory_is_verified_but_never_written(
    tmp_path: Path, fetch: Callable[..., Path]
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    with pytest.raises(JarsUnavailable, match="2 of 2 jars are missing"):
        fetch(given=str(given))
    for name, data in CONTENT.items():
        (given / name).write_bytes(data)
    assert fetch(given=str(given)) == given
    assert sorted(file.name for file in given.iterdir()) == sorted(CONTENT)
    with pytest.raises(JavaMissing):
        fetch()


def test_a_failure_gives_ivys_reason_and_the_settings_that_help(
    ivy: Callable[[str], Path], fetch: Callable[..., Path]
) -> None:
    says = "module not found: x\n\tServer access error at url http://mirror/ (refused)"
    ivy(f"echo '{says}'; exit 1")
    with pytest.raises(
        JarsUnavailable, match=r"^[^\n]*Server access error at url[^\n]*$"
    ) as failed:
        fetch()
    assert "local.jars_mirror to a Maven repository or local.jars_dir" in str(failed.value)
    assert first_problem(["all is well"]) == ""


def test_fetching_ends_when_told_to_stop(
    tmp_path: Path, ivy: Callable[[str], Path], fetch: Callable[..., Path]
) -> None:
    started, stop = tmp_path / "started", threading.Event()
    ivy(f"touch {started}; exec sleep 600")

    def stop_once_it_runs() -> None:
        eventually(started.exists, message="Ivy runs")
        stop.set()

    thread = threading.Thread(target=stop_once_it_runs)
    thread.start()
    with pytest.raises(Stopped):
        fetch(stop)
    thread.join()


def test_packaged_locks_pin_the_broker_and_its_logs() -> None:
    assert {"kafka_2.13-4.3.0.jar", "log4j-slf4j-impl-2.25.4.jar"} <= KAFKA_JARS.lock().keys()
    sizes = {name: len(jars.lock()) for name, jars in JAR_SETS.items()}
    assert sizes["kafka"] == 46
    assert all(sizes.values())


def test_sparks_jars_are_of_the_line_that_python_has() -> None:
    of = {"spark": version("pyspark"), "delta": version("delta-spark")}
    known = [name for name in SPARK_JARS.lock() if name.startswith(tuple(of))]
    assert len(known) == 4
    for name in known:
        assert name.endswith(f"-{of[name.partition('-')[0]]}.jar")


def test_a_lock_verifies_what_it_was_written_from_and_nothing_else(tmp_path: Path) -> None:
    for name in ("b-1.jar", "a-2.jar"):
        (tmp_path / name).write_bytes(name.encode())
    text = render(tmp_path)
    assert [line.split("  ")[1] for line in text.splitlines()] == ["a-2.jar", "b-1.jar"]
    lock = parse(text)
    verify(tmp_path, lock)
    (tmp_path / "a-2.jar").write_bytes(b"else")
    other = hashlib.sha256(b"else").hexdigest()
    with pytest.raises(JarMismatch, match=rf"a-2\.jar: sha256 {other}, .* {lock['a-2.jar']}"):
        verify(tmp_path, lock)
    (tmp_path / "a-2.jar").write_bytes(b"a-2.jar")
    (tmp_path / "extra-1.jar").write_bytes(b"")
    with pytest.raises(JarMismatch, match=r"extra-1\.jar"):
        verify(tmp_path, lock)
    (tmp_path / "b-1.jar").unlink()
    with pytest.raises(JarsUnavailable, match=r"1 of 2 jars are missing, first b-1\.jar"):
        verify(tmp_path, lock)


@pytest.mark.parametrize(
    "line", ["abc  a.jar", f"{'0' * 64} a.jar", f"{'0' * 64}  ../a.jar", f"{'0' * 64}  a.zip", ""]
)
def test_a_malformed_lock_names_the_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse(f"{'0' * 64}  good.jar\n{line}\n")


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up _JAVA_OPTIONS: -Xmx1g\nopenjdk version "17.0.1" 2021-10-19', 17),
        ("Unable to locate a Java Runtime.", None),
    ],
)
def test_the_version_is_read_from_what_java_prints(text: str, major: int | None) -> None:
    assert major_version(text) == major


def test_java_home_comes_before_path_and_what_is_no_java_or_an_old_one_is_refused(
    tmp_path: Path,
) -> None:
    home, other = fake_java(tmp_path / "home"), fake_java(tmp_path / "other")
    old = fake_java(tmp_path / "old", version='openjdk version "11.0.2" 2019-01-15')
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert found == home / "bin" / "java"
    assert find_java({"PATH": str(other / "bin")}) == other / "bin" / "java"
    for environ, problem in (
        ({"PATH": str(tmp_path)}, r"Java 17 or newer is needed .*install it"),
        ({"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""}, "does not run"),
        ({"JAVA_HOME": str(old)}, "is version 11"),
    ):
        with pytest.raises(JavaMissing, match=problem):
            find_java(environ)
