"""Servers and services that hang."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from warren_local.server import Child


@contextmanager
def suspended(child: Child | None) -> Iterator[None]:
    """Meanwhile all that it started hangs: connections stay open, and nobody answers."""
    assert child is not None
    os.killpg(child.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(child.pid, signal.SIGCONT)
