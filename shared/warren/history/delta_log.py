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
FIRST_COMMIT = "00000000000000000000.json"
"""Name of the file that has version 0, from Delta's protocol."""
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
        return _is_whole(first_commit())
    except ValueError:  # no text, or half a line
        return False


def is_half_made(table: Path) -> bool:
    """Whether nothing but a log without a version is in the folder of a table. Files of rows say
    that there was one."""
    if not table.is_dir() or [entry.name for entry in table.iterdir()] != [LOG]:
        return False
    log = table / LOG
    return not has_version((file.name for file in log.iterdir()), (log / FIRST_COMMIT).read_text)


def _is_whole(commit: str) -> bool:
    said: set[str] = set()
    for line in filter(None, commit.split("\n")):
        action = json.loads(line)
        said.update(action if isinstance(action, dict) else ())
    return said >= _NEEDED
