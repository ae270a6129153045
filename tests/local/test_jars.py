"""Locks, fetching from a repository of our own, and which Java is taken."""

import hashlib
import io
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path, PurePosixPath

import pytest
from rich.console import Console
from warren.settings import Settings
from warren_local.jars import (
    JAR_SETS,
    KAFKA_JARS,
    SPARK_JARS,
    ensure_jars,
    find_java,
    major_version,
    parse,
    verify,
)
from warren_local.server import JarMismatch, JarsUnavailable, JavaMissing, Stopped

CONTENT = {"org/one/1/one-1.jar": b"one", "org/two/2/two-2.jar": b"two"}
LOCK = {PurePosixPath(path): hashlib.sha256(jar).hexdigest() for path, jar in CONTENT.items()}


class Repository:
    """A Maven repository that notes what is asked of it."""

    def __init__(self) -> None:
        self.content = dict(CONTENT)
        self.asked: list[str] = []
        self.hangs = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()
        repository = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                repository.asked.append(self.path)
                jar = repository.content.get(self.path.removeprefix("/maven2/"))
                self.send_response(404 if jar is None else 200)
                self.end_headers()
                repository.hangs.set()
                repository.goes_on.wait(60)
                self.wfile.write(jar or b"no such jar")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/maven2/"


@pytest.fixture
def repository() -> Iterator[Repository]:
    repository = Repository()
    with repository.server as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield repository
        repository.goes_on.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def fetch(tmp_path: Path, repository: Repository) -> Callable[..., Path]:
    def run(stop: threading.Event | None = None, given: str = "", mirror: str = "") -> Path:
        local = {"state_dir": str(tmp_path / "state"), "jars_dir": given}
        local["jars_mirror"] = mirror or repository.url
        console = Console(file=io.StringIO())
        settings = Settings.model_validate({"local": local})
        return ensure_jars(KAFKA_JARS, settings, console, lock=LOCK, stop=stop)

    return run


def test_jars_are_fetched_once_or_when_some_are_missing_and_then_reused(
    repository: Repository, fetch: Callable[..., Path]
) -> None:
    directory = fetch()
    assert {jar.name for jar in directory.iterdir()} == {"one-1.jar", "two-2.jar"}
    (directory / "two-2.jar").unlink()
    assert (fetch() / "two-2.jar").read_bytes() == b"two"
    assert fetch() == directory
    assert len(repository.asked) == 4


def test_what_is_tampered_with_is_refused_not_kept_and_not_replaced(
    tmp_path: Path, repository: Repository, fetch: Callable[..., Path]
) -> None:
    repository.content["org/two/2/two-2.jar"] = b"bad"
    with pytest.raises(JarMismatch, match=r"two-2\.jar"):
        fetch()
    assert not list(tmp_path.rglob("*.jar"))
    repository.content = dict(CONTENT)
    (fetch() / "one-1.jar").write_bytes(b"changed")
    with pytest.raises(JarMismatch, match=r"one-1\.jar"):
        fetch()


def test_a_given_directory_is_verified_but_never_written(
    tmp_path: Path, repository: Repository, fetch: Callable[..., Path]
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    with pytest.raises(JarsUnavailable, match="2 of 2 jars are missing"):
        fetch(given=str(given))
    for path, jar in CONTENT.items():
        (given / PurePosixPath(path).name).write_bytes(jar)
    assert fetch(given=str(given)) == given
    assert sorted(file.name for file in given.iterdir()) == ["one-1.jar", "two-2.jar"]
    assert repository.asked == []


def test_a_failure_names_the_jar_the_reason_and_the_settings_that_help(
    repository: Repository, fetch: Callable[..., Path]
) -> None:
    del repository.content["org/two/2/two-2.jar"]
    with pytest.raises(
        JarsUnavailable, match=r"two-2\.jar: HTTP 404; set local\.jars_mirror to"
    ) as failed:
        fetch()
    assert str(failed.value).endswith("a Maven repository or local.jars_dir to a directory of jars")
    with pytest.raises(JarsUnavailable, match=r"one-1\.jar: .*protocol"):
        fetch(mirror="mirror.example")


def test_fetching_ends_when_told_to_stop(
    repository: Repository, fetch: Callable[..., Path]
) -> None:
    stop = threading.Event()
    repository.goes_on.clear()

    def stop_amid_a_jar() -> None:
        repository.hangs.wait()
        stop.set()
        repository.goes_on.set()

    thread = threading.Thread(target=stop_amid_a_jar)
    thread.start()
    with pytest.raises(Stopped):
        fetch(stop)
    thread.join()


def test_packaged_locks_pin_the_broker_and_its_logs() -> None:
    names = {path.name for path in KAFKA_JARS.lock()}
    assert {"kafka_2.13-4.3.0.jar", "log4j-slf4j-impl-2.25.4.jar"} <= names
    assert [len(jars.lock()) for jars in JAR_SETS] == [46, 6, 19]


def test_sparks_jars_are_of_the_line_that_python_has() -> None:
    of = {"spark": version("pyspark"), "delta": version("delta-spark")}
    names = [path.name for path in SPARK_JARS.lock()]
    known = [name for name in names if name.startswith(tuple(of))]
    assert len(known) == 4
    for name in known:
        assert name.endswith(f"-{of[name.partition('-')[0]]}.jar")


def test_jars_that_a_lock_does_not_know_are_refused(tmp_path: Path) -> None:
    for path, jar in CONTENT.items():
        (tmp_path / PurePosixPath(path).name).write_bytes(jar)
    verify(tmp_path, LOCK)
    (tmp_path / "extra-1.jar").write_bytes(b"")
    with pytest.raises(JarMismatch, match=r"extra-1\.jar"):
        verify(tmp_path, LOCK)
    (tmp_path / "two-2.jar").unlink()
    with pytest.raises(JarsUnavailable, match=r"1 of 2 jars are missing, first two-2\.jar"):
        verify(tmp_path, LOCK)


@pytest.mark.parametrize(
    "line", ["abc  a.jar", f"{'0' * 64} a.jar", f"{'0' * 64}  ../a.jar", f"{'0' * 64}  a.zip", ""]
)
def test_a_malformed_lock_names_the_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse(f"{'0' * 64}  good.jar\n{line}\n")


def java_home(home: Path, version: str = 'openjdk version "17.0.15" 2025-04-15') -> Path:
    """A JAVA_HOME whose java prints a version."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{version}' >&2\n")
    program.chmod(0o755)
    return home


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
    home, other = java_home(tmp_path / "home"), java_home(tmp_path / "other")
    old = java_home(tmp_path / "old", version='openjdk version "11.0.2" 2019-01-15')
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
