"""One archiver at a time works on a lake: a lock that its process holds.

Only where the lake is on a disk of this machine. For a lake by URL nobody can be waited for: there
Delta refuses the second one's commits.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from warren.errors import SettingsError
from warren.lake_path import local_path

log = structlog.get_logger(__name__)
LOCK = ".archiver-lock"


@contextmanager
def lake_lock(path: str) -> Iterator[None]:
    """Wait for whoever holds it, hold it, give it back. `path`: the lake's, as it was set.

    The kernel gives it back for a process that was killed. Raises SettingsError.
    """
    folder = local_path(path)
    if folder is None:
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / LOCK, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise SettingsError("archiver.path", f"{folder}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning(
                "another process archives to this lake: waiting until it has ended", lake=path
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
