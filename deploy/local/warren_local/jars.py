"""The embedded servers' and Spark's jars: fetched once, verified against a lock at every start."""

import argparse
import importlib.resources
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from warren.errors import WarrenError
from warren.settings import LocalSettings, Settings
from warren.settings_file import load_settings

from warren_local.child import Child
from warren_local.errors import JarMismatch, JarsUnavailable, JavaMissing, Stopped
from warren_local.jar_sets import JAR_SETS, JarLock, JarSet, render, verify
from warren_local.state_folder import LOGS, guard, make_state_folder

OLDEST = 17  # Kafka 4's brokers need it
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


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
    if version < OLDEST:
        raise JavaMissing(f"{found} is version {version}")
    return Path(found)


def major_version(text: str) -> int | None:
    """Feature release from what `java -version` prints; 8 for the old form 1.8."""
    match = _VERSION.search(text)
    return int(match[1]) if match else None


LOOK_EVERY = 0.1  # seconds between two looks at Ivy's output
_FILE_PATTERN = "[artifact]-[revision](-[classifier]).[ext]"


def ivy_jar() -> Path:
    """Where pyspark keeps Ivy; pyspark itself is not imported (that would take a second)."""
    spec = importlib.util.find_spec("pyspark")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    found = [jar for folder in folders for jar in sorted((folder / "jars").glob("ivy-*.jar"))]
    if not found:
        raise JarsUnavailable("Ivy, which ships inside pyspark, is missing: run `make setup`")
    return found[-1]


def first_problem(lines: Iterable[str]) -> str:
    """The cause that Ivy gives, on one line; empty when it gives none."""
    lines = [line.strip() for line in lines]
    marks = ("Server access error", "ParseException", "not found")  # the most telling first
    return next((line for mark in marks for line in lines if mark in line), "")


def retrieve(
    jars: JarSet,
    *,
    java: Path,
    target: Path,
    cache: Path,
    log: Path,
    mirror: str,
    stop: threading.Event,
) -> None:
    """Put all jars of the set into `target`.

    Raises JarsUnavailable with Ivy's reason, Stopped when `stop` is set before it is done.
    """
    data = importlib.resources.files("warren_local")
    settings = "ivysettings-mirror.xml" if mirror else "ivysettings.xml"
    command = [
        str(java),
        f"-Divy.default.ivy.user.dir={cache}",  # else Ivy writes to the home directory
        f"-Dwarren.mirror={mirror}",
        f"-Dwarren.spark={version('pyspark')}",
        f"-Dwarren.delta={version('delta-spark')}",
        *("-jar", str(ivy_jar())),
        *("-settings", str(data.joinpath(settings))),
        *("-ivy", str(data.joinpath(jars.ivy_file))),
        *("-cache", str(cache / "cache")),
        *("-confs", "default"),
        *("-retrieve", str(target / _FILE_PATTERN)),
    ]
    log.unlink(missing_ok=True)
    child = Child(command, log=log)
    try:
        while (code := child.exit_code()) is None:
            if stop.wait(LOOK_EVERY):
                raise Stopped
    finally:
        child.kill()
    if code != 0:
        cause = first_problem(log.read_text(errors="replace").splitlines())
        or_given = f" or {jars.setting} to a directory of jars" if jars.setting else ""
        raise JarsUnavailable(
            f"{jars.title}'s jars could not be downloaded: {cause or f'exit code {code}'} "
            f"(Ivy's log: {log}); set local.jars_mirror to a Maven repository{or_given}"
        )


def ensure_jars(
    jars: JarSet,
    settings: Settings,
    console: Console,
    *,
    lock: JarLock | None = None,
    stop: threading.Event | None = None,
) -> Path:
    """Directory with exactly the set's jars; downloads them when they are not there.

    Raises JarMismatch, JarsUnavailable, JavaMissing, or Stopped when `stop` is set. Needs neither
    Java nor a network when the jars are there. A directory that is set is only verified, never
    written.
    """
    lock = jars.lock() if lock is None else lock
    if given := jars.given(settings):
        directory = Path(given).resolve()
        verify(directory, lock)
        return directory
    state = Path(settings.local.state_dir).resolve()
    make_state_folder(state)
    target = state / jars.directory
    with guard(state / "jars.guard", wait=True):
        if target.is_dir():
            try:
                verify(target, lock)
            except JarsUnavailable:  # of an older lock, or interrupted: fetch again
                shutil.rmtree(target)
            else:
                return target
        with _fetched(jars, settings.local, console, len(lock), stop) as fetched:
            try:
                verify(fetched, lock)
            except JarMismatch:
                shutil.rmtree(state / "ivy", ignore_errors=True)  # ask again next time
                raise
            fetched.rename(target)
    return target


def write_lock(jars: JarSet, local: LocalSettings, console: Console, file: Path) -> None:
    """Resolve the set's Ivy file anew and pin what comes."""
    make_state_folder(Path(local.state_dir))
    with _fetched(jars, local, console, len(jars.lock()), None) as fetched:
        file.write_text(render(fetched))


@contextmanager
def _fetched(
    jars: JarSet,
    local: LocalSettings,
    console: Console,
    count: int,
    stop: threading.Event | None,
) -> Iterator[Path]:
    """A directory with freshly fetched, not yet verified jars; gone afterwards unless moved."""
    state = Path(local.state_dir).resolve()
    target = Path(tempfile.mkdtemp(prefix="jars-", dir=state))
    try:
        console.print(f"{jars.title} jars: fetching {count}, once")
        retrieve(
            jars,
            java=find_java(os.environ),
            target=target,
            cache=state / "ivy",
            log=state / LOGS / "ivy.log",
            mirror=local.jars_mirror,
            stop=stop or threading.Event(),
        )
        yield target
    finally:
        shutil.rmtree(target, ignore_errors=True)


def main() -> None:
    """`python -m warren_local.jars`: what `make setup` runs."""
    parser = argparse.ArgumentParser(prog="python -m warren_local.jars", description=__doc__)
    parser.add_argument("--config", type=Path, help="warren.toml to read")
    parser.add_argument(
        "--write-lock", type=Path, metavar="FILE", help="resolve anew and write the lock there"
    )
    parser.add_argument(
        "--set", choices=sorted(JAR_SETS), help="only these jars; without it all are fetched"
    )
    options = parser.parse_args()
    console = Console(stderr=True)
    try:
        settings = load_settings(options.config)
        if options.write_lock:
            chosen = JAR_SETS[options.set or "kafka"]
            write_lock(chosen, settings.local, console, options.write_lock)
            return
        for jars in [JAR_SETS[options.set]] if options.set else JAR_SETS.values():
            ensure_jars(jars, settings, console)
    except WarrenError as problem:
        sys.exit(f"warren: {problem}")


if __name__ == "__main__":
    main()
