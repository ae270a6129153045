"""A child process: own session, output to a file, dies with its parent."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from warren.files import append_private

from warren_local import leash

STOP_GRACE = 60.0
"""Seconds from SIGTERM to SIGKILL. A service needs up to 10 where 20 processes share 2 cores."""


class Child:
    """A running process. Start it in a thread that lives as long as the process should.

    (The kernel ties the process to the thread that started it, not to the whole parent.)
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        environ: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        wrapper = [sys.executable, "-I", "-S", leash.__file__, str(os.getpid())]
        with os.fdopen(append_private(log), "ab") as output:
            self._process = subprocess.Popen(
                [*wrapper, *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if environ is None else dict(environ),
                cwd=directory,
                start_new_session=True,  # Ctrl-C reaches the parent only, which stops in order
            )
        self.log = log

    @property
    def pid(self) -> int:
        return self._process.pid

    def suspend(self) -> None:
        """SIGSTOP to all that it started: it hangs, and its connections stay open."""
        os.killpg(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """After `suspend`."""
        os.killpg(self.pid, signal.SIGCONT)

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self._process.poll() is None:
            self._process.terminate()

    def stop(self, grace: float = STOP_GRACE) -> bool:
        """SIGTERM, then SIGKILL after `grace` seconds, to all that it started; True if in time."""
        self.ask_to_stop()
        try:
            self._process.wait(grace)
            in_time = True
        except subprocess.TimeoutExpired:
            in_time = False
        self.kill()
        return in_time

    def kill(self) -> None:
        """SIGKILL to it and to whatever else is left of its session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
