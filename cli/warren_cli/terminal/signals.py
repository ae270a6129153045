"""Signals that end a command which otherwise runs for ever, and who gets the terminal's Ctrl-C."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def own_foreground() -> Iterator[None]:
    """Be alone in the terminal's foreground, if the process shares it with who started it.

    A terminal sends Ctrl-C to every process in the foreground. Under `make run` that includes make,
    which then ends as if something had failed, although everything was stopped in order.

    Does nothing without a terminal, in the background, or when started by an interactive shell.
    Ctrl-Z is ignored meanwhile: the shell would not notice it.
    """
    terminal = _shared_terminal()
    if terminal is None:
        yield
        return
    before = os.getpgrp()
    os.setpgid(0, 0)
    for ignored in (signal.SIGTTOU, signal.SIGTSTP):
        signal.signal(ignored, signal.SIG_IGN)
    try:
        os.tcsetpgrp(terminal, os.getpgrp())
        yield
    finally:
        with suppress(OSError):  # the terminal or who started us has gone
            os.tcsetpgrp(terminal, before)
        os.close(terminal)


def _shared_terminal() -> int | None:
    """The terminal in whose foreground this process is together with others."""
    if os.getpgrp() == os.getpid():
        return None
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return None
    with suppress(OSError):
        if os.tcgetpgrp(terminal) == os.getpgrp():
            return terminal
    os.close(terminal)
    return None
