"""The Java runtime that runs the broker and Ivy."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from warren_local.errors import JavaMissing

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
