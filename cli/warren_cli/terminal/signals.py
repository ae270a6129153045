"""Signals that end a command which otherwise runs for ever."""

from __future__ import annotations

import signal
import threading
from types import FrameType


def stop_on_signals() -> threading.Event:
    """An event that Ctrl-C, SIGTERM or the end of the terminal sets."""
    stop = threading.Event()

    def _set(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _set)
    return stop
