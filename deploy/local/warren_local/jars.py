"""The embedded servers' and Spark's jars: fetched once from a Maven repository, and verified at
every start against a lock, which has one `<sha256>  <path in the repository>` per line.

`deploy/local/jars/lock.sh` writes locks.
"""

import argparse
import hashlib
import importlib.resources
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import httpx
from rich.console import Console
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential
from warren.errors import WarrenError
from warren.settings import Settings
from warren.settings_file import load_settings

from warren_local.server import JarMismatch, JarsUnavailable, JavaMissing, Stopped
from warren_local.state_folder import guard, make_state_folder

OLDEST_JAVA = 17  # Kafka 4's brokers need it
MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
PATIENCE = httpx.Timeout(60, connect=15)  # seconds: a mirror may have to fetch a jar itself
ATTEMPTS = 3  # at each jar, where a connection fails
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_LINE = re.compile(r"([0-9a-f]{64})  ([\w.+/-]+\.jar)")

JarLock = Mapping[PurePosixPath, str]
"""sha256 by path in a Maven repository."""


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that are used together."""

    title: str
    name: str = "jars"
    """Of the lock in this package, and of the directory under `local.state_dir`."""
    setting: str = ""
    """Names a directory that already holds the jars; none for those that only tests use."""

    def lock(self) -> JarLock:
        """What this version of Warren was tested with."""
        return parse(
            importlib.resources.files("warren_local").joinpath(f"{self.name}.lock").read_text()
        )

    def given(self, settings: Settings) -> str:
        """The directory that the setting names; empty for none."""
        section, _, name = self.setting.partition(".")
        return str(getattr(getattr(settings, section), name)) if name else ""


KAFKA_JARS = JarSet("Kafka", setting="local.jars_dir")
SPARK_JARS = JarSet("Spark", "jars-spark", "archiver.jars_dir")
ZOOKEEPER_JARS = JarSet("ZooKeeper", "jars-zookeeper")
JAR_SETS = (KAFKA_JARS, SPARK_JARS, ZOOKEEPER_JARS)


def find_java(environ: Mapping[str, str]) -> Path:
    """The `java` of JAVA_HOME, else of PATH; raises JavaMissing when absent or older than 17."""
    home = environ.get("JAVA_HOME")
    named = Path(home) / "bin" / "java" if home else None
    found = str(named) if named else shutil.which("java", path=environ.get("PATH"))
    if found is None:
        raise JavaMissing("no `java` on PATH")
    try:
        shown = subprocess.run(
            [found, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise JavaMissing(f"{found} does not run: {problem}") from problem
    version = major_version(shown.stderr)
    if shown.returncode != 0 or version is None:
        raise JavaMissing(f"{found} is no Java runtime")
    if version < OLDEST_JAVA:
        raise JavaMissing(f"{found} is version {version}")
    return Path(found)


def major_version(text: str) -> int | None:
    """Feature release from what `java -version` prints; 8 for the old form 1.8."""
    match = _VERSION.search(text)
    return int(match[1]) if match else None


def parse(text: str) -> JarLock:
    """Read a lock; raises ValueError with the line's number on a malformed line."""
    lock: dict[PurePosixPath, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None or ".." in match[2]:
            raise ValueError(f"jars' lock, line {number}: not `<sha256>  <path>.jar`")
        lock[PurePosixPath(match[2])] = match[1]
    return lock


def verify(directory: Path, lock: JarLock) -> None:
    """Raise JarsUnavailable when a jar is absent, JarMismatch when one is not the pinned one.

    A jar that the lock does not know is refused as well: it would end up on the class path.
    """
    pinned = {path.name: sha256 for path, sha256 in lock.items()}
    missing = sorted(name for name in pinned if not (directory / name).is_file())
    if missing:
        raise JarsUnavailable(
            f"{directory}: {len(missing)} of {len(lock)} jars are missing, first {missing[0]}"
        )
    for jar in sorted(directory.glob("*.jar")):
        expected = pinned.get(jar.name, "no such jar")
        with jar.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise JarMismatch(f"{jar}: sha256 {found}, but the lock expects {expected}")


def ensure_jars(
    jars: JarSet,
    settings: Settings,
    console: Console,
    *,
    lock: JarLock | None = None,
    stop: threading.Event | None = None,
) -> Path:
    """Directory with exactly the set's jars; downloads them when they are not there.

    Raises JarMismatch, JarsUnavailable, or Stopped when `stop` is set. Needs no network when the
    jars are there. A directory that is set is only verified, never written.
    """
    lock = jars.lock() if lock is None else lock
    if given := jars.given(settings):
        directory = Path(given).resolve()
        verify(directory, lock)
        return directory
    state = Path(settings.local.state_dir).resolve()
    make_state_folder(state)
    target = state / jars.name
    with guard(state / "jars.guard", wait=True):
        if target.is_dir():
            try:
                verify(target, lock)
            except JarsUnavailable:  # of an older lock, or interrupted: fetch again
                shutil.rmtree(target)
            else:
                return target
        console.print(f"{jars.title} jars: fetching {len(lock)}, once")
        fetched = Path(tempfile.mkdtemp(prefix="jars-", dir=state))
        try:
            _fetch(jars, lock, settings.local.jars_mirror or MAVEN_CENTRAL, fetched, stop)
            verify(fetched, lock)
            fetched.rename(target)
        finally:
            shutil.rmtree(fetched, ignore_errors=True)
    return target


def _fetch(
    jars: JarSet, lock: JarLock, repository: str, into: Path, stop: threading.Event | None
) -> None:
    with httpx.Client(timeout=PATIENCE, follow_redirects=True) as client:
        for path in lock:
            try:
                _fetch_one(client, f"{repository.rstrip('/')}/{path}", into / path.name, stop)
            except (httpx.HTTPError, httpx.InvalidURL) as problem:
                or_given = f" or {jars.setting} to a directory of jars" if jars.setting else ""
                raise JarsUnavailable(
                    f"{jars.title}'s jars could not be downloaded: {path}: {problem}; "
                    f"set local.jars_mirror to a Maven repository{or_given}"
                ) from problem


@retry(
    retry=retry_if_exception_type(httpx.TransportError),
    stop=stop_after_attempt(ATTEMPTS),
    wait=wait_exponential(max=5),
    reraise=True,
)
def _fetch_one(client: httpx.Client, url: str, into: Path, stop: threading.Event | None) -> None:
    with client.stream("GET", url) as response, into.open("wb") as file:
        if response.status_code != httpx.codes.OK:
            raise httpx.HTTPError(f"HTTP {response.status_code}")
        for chunk in response.iter_bytes():
            if stop is not None and stop.is_set():
                raise Stopped
            file.write(chunk)


def main() -> None:
    """`python -m warren_local.jars`: what `make setup` runs."""
    parser = argparse.ArgumentParser(prog="python -m warren_local.jars", description=main.__doc__)
    parser.add_argument("--config", type=Path, help="warren.toml to read")
    options = parser.parse_args()
    try:
        settings = load_settings(options.config)
        for jars in JAR_SETS:
            ensure_jars(jars, settings, Console(stderr=True))
    except WarrenError as problem:
        sys.exit(f"warren: {problem}")


if __name__ == "__main__":
    main()
