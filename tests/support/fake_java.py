"""A `java` that is a shell script: for what happens around Java, without Java."""

from __future__ import annotations

from pathlib import Path

VERSION_17 = 'openjdk version "17.0.15" 2025-04-15'


def fake_java(home: Path, *, version: str = VERSION_17, ivy: str = "exit 0") -> Path:
    """A JAVA_HOME whose java prints `version`, and runs `ivy` (shell) when started as Ivy.

    There, `$target` is the directory into which the jars belong.
    """
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        "#!/bin/sh\n"
        f"if [ \"$1\" = -version ]; then echo '{version}' >&2; exit 0; fi\n"
        'for last in "$@"; do :; done\n'
        'target=$(dirname "$last")\n'
        f"{ivy}\n"
    )
    java.chmod(0o755)
    return home
