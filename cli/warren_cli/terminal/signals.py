"""Signals that end a command which otherwise runs for ever."""

import signal
import threading
import time
from types import FrameType

SECOND_AFTER = 0.5
"""Seconds after which another Ctrl-C is a second one: launchers pass the first one on, too."""


def stop_on_signals(hurry: threading.Event | None = None) -> threading.Event:
    """Return an event that Ctrl-C, SIGTERM or the end of the terminal sets.

    A second Ctrl-C sets `hurry`.
    """
    stop = threading.Event()
    since = 0.0

    def _set(number: int, _frame: FrameType | None) -> None:
        nonlocal since
        if not stop.is_set():
            since = time.monotonic()
            stop.set()
        elif number == signal.SIGINT and hurry and time.monotonic() - since >= SECOND_AFTER:
            hurry.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _set)
    return stop
