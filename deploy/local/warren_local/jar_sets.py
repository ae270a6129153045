"""Which jars are fetched: named sets, each with its Ivy file, its directory and a lock that pins
each jar by its sha256.

A lock has one `<sha256>  <file name>` per line, as `sha256sum --check` reads it.
"""

import hashlib
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warren.settings import Settings

from warren_local.errors import JarMismatch, JarsUnavailable

_LINE = re.compile(r"([0-9a-f]{64})  ([^/\s]+\.jar)")

JarLock = Mapping[str, str]
"""sha256 by file name."""


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that are used together. The files named here are in this package."""

    title: str
    suffix: str = ""
    """Of the Ivy file, the lock and the directory under `local.state_dir`."""
    setting: str = ""
    """Names a directory that already holds the jars; none for those that only tests use."""

    @property
    def ivy_file(self) -> str:
        return f"ivy{self.suffix}.xml"

    @property
    def directory(self) -> str:
        return f"jars{self.suffix}"

    def lock(self) -> JarLock:
        """What this version of Warren was tested with."""
        file = importlib.resources.files("warren_local").joinpath(f"jars{self.suffix}.lock")
        return parse(file.read_text())

    def given(self, settings: Settings) -> str:
        """The directory that the setting names; empty for none."""
        section, _, name = self.setting.partition(".")
        return str(getattr(getattr(settings, section), name)) if name else ""


KAFKA_JARS = JarSet("Kafka", setting="local.jars_dir")
SPARK_JARS = JarSet("Spark", "-spark", "archiver.jars_dir")
ZOOKEEPER_JARS = JarSet("ZooKeeper", "-zookeeper")
JAR_SETS = {jars.title.lower(): jars for jars in (KAFKA_JARS, SPARK_JARS, ZOOKEEPER_JARS)}


def parse(text: str) -> JarLock:
    """Read a lock; raises ValueError with the line's number on a malformed line."""
    lock: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"jars.lock line {number}: not `<sha256>  <name>.jar`")
        lock[match[2]] = match[1]
    return lock


def render(directory: Path) -> str:
    """The lock's text for the jars that are in the directory."""
    jars = sorted(directory.glob("*.jar"), key=lambda jar: jar.name)
    return "".join(f"{sha256(jar)}  {jar.name}\n" for jar in jars)


def verify(directory: Path, lock: JarLock) -> None:
    """Raise JarsUnavailable when a jar is absent, JarMismatch when one is not the pinned one.

    A jar that the lock does not know is refused as well: it would end up on the class path.
    """
    missing = sorted(name for name in lock if not (directory / name).is_file())
    if missing:
        raise JarsUnavailable(
            f"{directory}: {len(missing)} of {len(lock)} jars are missing, first {missing[0]}"
        )
    for jar in sorted(directory.glob("*.jar")):
        expected = lock.get(jar.name, "no such jar")
        if (found := sha256(jar)) != expected:
            raise JarMismatch(f"{jar}: sha256 {found}, but the lock expects {expected}")


def sha256(file: Path) -> str:
    """Hex digest of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
