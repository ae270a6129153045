"""Waiting until a server that was started serves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from warren_local.child import Child
from warren_local.errors import ServerFailed

LOOK_EVERY = 0.05  # seconds


def await_ready(
    server: str,
    child: Child,
    is_ready: Callable[[], bool],
    *,
    timeout: float,
    stop: threading.Event | None = None,
) -> bool:
    """True once it serves, False when `stop` was set before.

    Raises ServerFailed when its process ends or `timeout` seconds are over.
    """
    stop = stop or threading.Event()
    deadline = time.monotonic() + timeout
    while not is_ready():
        if (code := child.exit_code()) is not None:
            raise ServerFailed(server, f"ended with exit code {code}", child.log)
        if time.monotonic() > deadline:
            raise ServerFailed(server, f"did not answer within {timeout:.0f} s", child.log)
        if stop.wait(LOOK_EVERY):
            return False
    return True
