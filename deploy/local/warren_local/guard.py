"""A lock file that the system releases when its process ends, however it ends."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Held(Exception):
    """Another process holds the lock."""


@contextmanager
def guard(file: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock; when another process has it, wait or raise Held."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as held:
            raise Held(str(file)) from held
        yield
