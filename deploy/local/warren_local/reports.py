"""The reports that pages link, written from the archive again and again while `warren up` runs."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from warren.clock import Clock
from warren.lake_path import local_path

from warren_local.child import Child
from warren_local.services import child_environ

FIRST_AFTER = 60.0
"""Seconds; before that there is hardly anything archived. As often it looks whether there is more.
"""
NOTHING_YET = 3  # the exit code that says so
STOP_GRACE = 2.0  # files are replaced as a whole


class Reports:
    """Starts a process for them every `interval` seconds, and waits for none. It starts none where
    nothing has been archived since the one before.

    One that is not done by then is ended: the next one has more to tell. `say` gets a line when
    writing fails, and no other until it went well again.
    """

    def __init__(
        self,
        config: Path,
        folder: Path,
        lake: str,
        *,
        log: Path,
        clock: Clock,
        interval: float,
        say: Callable[[str], None],
    ) -> None:
        into = ["--config", str(config), "--into", str(folder)]
        self._command = [sys.executable, "-m", "warren_archiver.report", *into]
        self._lake = local_path(lake)
        self._archived = self._written = 0.0
        """When a table of the lake was last written, as a process began and as one had ended."""
        self._log = log
        self._clock = clock
        self._interval = interval
        self._say = say
        self._due_in(FIRST_AFTER)
        self._child: Child | None = None
        self._failed = False

    @property
    def writing(self) -> bool:
        return self._child is not None

    def look(self) -> None:
        """Again and again, in the thread that also made it."""
        if self._child is not None and (code := self._child.exit_code()) is not None:
            self._child = None
            if code in (0, NOTHING_YET):
                self._written = self._archived
            if code == NOTHING_YET:
                self._due_in(FIRST_AFTER)
            else:
                self._tell(f"exit code {code}" if code else None)
        if self._clock.monotonic() < self._due_at:
            return
        if self._child is not None:
            self.stop()
            self._tell(f"not done after {self._interval:g}s")
        self._archived = self._last_change()
        if self._archived == self._written:
            self._due_in(FIRST_AFTER)
            return
        self._due_in(self._interval)
        self._log.unlink(missing_ok=True)
        self._child = Child(self._command, log=self._log, environ=child_environ(os.environ))

    def stop(self) -> None:
        """What is being written is given up."""
        if self._child is not None:
            self._child.stop(STOP_GRACE)
            self._child = None

    def _last_change(self) -> float:
        """Of the logs of all tables; always another one where that cannot be seen."""
        if self._lake is None:
            return self._clock.monotonic()
        logs = self._lake.glob("*/*/_delta_log")
        return max((log.stat().st_mtime for log in logs), default=-1)

    def _due_in(self, seconds: float) -> None:
        self._due_at = self._clock.monotonic() + min(seconds, self._interval)

    def _tell(self, problem: str | None) -> None:
        if problem is not None and not self._failed:
            self._say(f"reports are not written: {problem}, see {self._log}")
        self._failed = problem is not None
