"""A lock: which jars make up a set, each pinned by its sha256.

One `<sha256>  <file name>` per line, as `sha256sum --check` reads it.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import re
from collections.abc import Mapping
from pathlib import Path

from warren_local.errors import JarMismatch, JarsUnavailable

_LINE = re.compile(r"([0-9a-f]{64})  ([^/\s]+\.jar)")

JarLock = Mapping[str, str]
"""sha256 by file name."""


def packaged_lock(name: str = "jars.lock") -> JarLock:
    """The lock that this version of Warren was tested with."""
    return parse(importlib.resources.files("warren_local").joinpath(name).read_text())


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
        found = sha256(jar)
        if found != expected:
            raise JarMismatch(jar, expected, found)


def sha256(file: Path) -> str:
    """Hex digest of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
