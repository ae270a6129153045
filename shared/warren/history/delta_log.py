"""Whether a Delta table has a version: the folder of its log alone says nothing.

Whoever is killed while it creates a table leaves that folder empty, or a temporary file in it; a
machine that loses its power, a first commit that is not written whole.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

LOG = "_delta_log"
"""Name of the folder of a table's log, from Delta's protocol."""


def commit_name(version: int) -> str:
    """Name of the file that has a version, from Delta's protocol."""
    return f"{version:020d}.json"


FIRST_COMMIT = commit_name(0)
_OF_VERSION = re.compile(r"[0-9]{20}[.].+")
_NEEDED = {"metaData", "protocol"}
"""Actions that each table's first commit has, from Delta's protocol."""


def has_version(names: Iterable[str], first_commit: Callable[[], str]) -> bool:
    """Whether anybody can read a table whose log has files of these names.

    `first_commit`: reads version 0; it is asked only where no later version is there.
    """
    versions = {name for name in names if _OF_VERSION.fullmatch(name)}
    if versions != {FIRST_COMMIT}:
        return bool(versions)
    try:
        return _actions(first_commit()) >= _NEEDED
    except ValueError:  # no text, or half a line
        return False


def is_half_made(table: Path) -> bool:
    """Whether nothing but a log without a version is in the folder of a table. Files of rows say
    that there was one."""
    if not table.is_dir() or [entry.name for entry in table.iterdir()] != [LOG]:
        return False
    log = table / LOG
    return not has_version((file.name for file in log.iterdir()), (log / FIRST_COMMIT).read_text)


def damaged_commit(table: Path) -> str | None:
    """The first file of a log that cannot be read. A commit without a byte is passed over as by
    Delta itself, unless it is the first one."""
    for file in sorted((table / LOG).glob("*.json")):
        try:
            said = _actions(file.read_text())
        except ValueError:
            return file.name
        if file.name == FIRST_COMMIT and not said >= _NEEDED:
            return file.name
    return None


def emptied_commits(table: Path) -> list[str]:
    """Commits without a byte that were whole once: Spark noted beside them what the table had then.
    Others are of somebody who was killed at writing them, and hide nothing."""
    return sorted(
        file.name
        for file in (table / LOG).glob("*.json")
        if not file.stat().st_size and file.with_suffix(".crc").exists()
    )


def _actions(commit: str) -> set[str]:
    """Kinds of what a commit does. Raises ValueError for what is no commit."""
    said: set[str] = set()
    for line in filter(None, commit.split("\n")):
        action = json.loads(line)
        said.update(action if isinstance(action, dict) else ())
    return said
