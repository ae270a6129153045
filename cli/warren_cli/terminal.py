"""The terminal: where commands print their tables, and signals that end one that runs for ever."""

import os
import signal
import sys
import threading
import time
from types import FrameType

from rich.console import Console

UNLIMITED = 1000  # columns; no name is longer than a few hundred characters


def discard_output() -> None:
    """What is left of it goes nowhere: Python must not complain when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output_console() -> Console:
    """Nothing is shortened or wrapped for a pipe, unless COLUMNS says how wide it is. Nothing in a
    text is markup: a group may be called `[bold]`."""
    console = Console(markup=False)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        console.width = UNLIMITED
    return console


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
