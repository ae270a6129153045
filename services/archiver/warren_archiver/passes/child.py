"""One pass: a process that archives what is there, and ends."""

import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence

PREFIX = "warren-archiver: "
"""Begins the line in which the archiver says why it ends."""


class Child:
    """A running pass. What it says on standard error is ours to say."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._reason = self._last = ""
        self._reader = threading.Thread(target=self._read, name="pass", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def problem(self) -> str:
        """Wait for its end. Why it failed, in a line; empty where it did not."""
        code = self._process.wait()
        self._reader.join(1)  # processes of its own may have the pipe for a little longer
        if code < 0:
            return f"the pass was ended by {signal.Signals(-code).name}"
        return (self._reason or self._last or f"exit code {code}") if code else ""

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                sys.stderr.write(line)
                sys.stderr.flush()
                self._last = line.strip() or self._last
                if line.startswith(PREFIX):
                    self._reason = line.removeprefix(PREFIX).strip()
