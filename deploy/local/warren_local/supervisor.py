"""Keeps a set of child processes running; stops them in order.

Single-threaded: `watch` is called again and again by the thread that also started the services
(they die with that thread, see `Child`).
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warren.clock import Clock

from warren_local.server import STOP_GRACE, Child, StartRefused

FIRST = 0.5  # seconds before a service that died is started again
LONGEST = 10.0
STABLE_AFTER = 30.0  # a service that lived so long starts over with the first delay
LAST_LINE = 300  # bytes of a log's end that may be shown
LOOK_EVERY = 0.1  # seconds between two looks at what is being stopped
BAD_SETTINGS = 2  # exit code of a service that refuses its settings
PATIENT_FOR = 10.0  # seconds until people are told what the stop waits for


class Backoff:
    """Doubles from FIRST to LONGEST seconds, and forgets after a long life."""

    def __init__(self) -> None:
        self._next = FIRST

    def delay(self, lived: float) -> float:
        """Seconds to wait, given how many seconds the process lived."""
        if lived >= STABLE_AFTER:
            self._next = FIRST
        delay = self._next
        self._next = min(2 * delay, LONGEST)
        return delay


@dataclass(frozen=True, slots=True)
class Service:
    """What to run."""

    name: str
    command: Sequence[str]
    stage: int
    """Services of a higher stage are stopped before those of a lower one."""
    grace: float = STOP_GRACE
    """Seconds between SIGTERM and SIGKILL; of a stage, those of its slowest service."""
    environ: Mapping[str, str] | None = None


class _Kept:
    """A service that was started and shall run."""

    def __init__(self, service: Service, log: Path) -> None:
        self.service = service
        self.log = log
        self.backoff = Backoff()
        self.child: Child | None = None
        self.started_at = 0.0
        self.due_at = 0.0
        self.lives = 0


class Supervisor:
    """`report` gets one line for people per event; `on_pids` the process ids when they change.

    Once `hurry` is set `stop` waits no longer: what still runs is killed.
    """

    def __init__(
        self,
        *,
        logs: Path,
        clock: Clock,
        report: Callable[[str], None],
        on_pids: Callable[[dict[str, list[int]]], None],
        hurry: threading.Event | None = None,
    ) -> None:
        self._hurry = hurry or threading.Event()
        self._logs = logs
        self._clock = clock
        self._report = report
        self._on_pids = on_pids
        self._kept: dict[str, _Kept] = {}

    def pids(self) -> dict[str, list[int]]:
        """Process ids of what runs, by service."""
        return {
            name: [kept.child.pid] for name, kept in self._kept.items() if kept.child is not None
        }

    def start(self, service: Service) -> Child:
        """Start a service and keep it running from now on."""
        log = self._logs / f"{service.name}.log"
        rotate(log)
        kept = self._kept[service.name] = _Kept(service, log)
        return self._start(kept)

    def watch(self) -> None:
        """Look once: start again what died, when its delay is over. Raises StartRefused where the
        first life of a service has ended because of a setting: that is no better the next time.
        """
        for kept in self._kept.values():
            if kept.child is None:
                if self._clock.monotonic() >= kept.due_at:
                    self._start(kept)
            elif (code := kept.child.exit_code()) is not None:
                kept.child.kill()  # what it started goes with it
                kept.child = None
                if code == BAD_SETTINGS and kept.lives == 1:
                    raise StartRefused(last_line(kept.log))
                now = self._clock.monotonic()
                delay = kept.backoff.delay(now - kept.started_at)
                kept.due_at = now + delay
                why = f": {last_line(kept.log)}" if code > 0 else ""
                self._report(
                    f"{kept.service.name} {describe_exit(code)}, starting it again in {delay:g}s "
                    f"(its log: {kept.log}){why}"
                )
                self._on_pids(self.pids())

    def stop(self) -> None:
        """Stop everything, the highest stage first; no harm when nothing runs."""
        for stage in sorted({kept.service.stage for kept in self._kept.values()}, reverse=True):
            self._stop_all(kept for kept in self._kept.values() if kept.service.stage == stage)
        self._kept.clear()
        self._on_pids({})

    def _start(self, kept: _Kept) -> Child:
        kept.child = Child(kept.service.command, log=kept.log, environ=kept.service.environ)
        kept.started_at = self._clock.monotonic()
        kept.lives += 1
        self._on_pids(self.pids())
        return kept.child

    def _stop_all(self, services: Iterable[_Kept]) -> None:
        """All at once, so that the slowest one decides how long it takes."""
        running = [(kept.service, kept.child) for kept in services if kept.child is not None]
        for _, child in running:
            child.ask_to_stop()
        began, told = self._clock.monotonic(), False
        while left := [service for service, child in running if child.exit_code() is None]:
            waited = self._clock.monotonic() - began
            if self._hurry.is_set() or all(waited >= service.grace for service in left):
                break
            if waited >= PATIENT_FOR and not told:
                told = True
                names = ", ".join(service.name for service in left)
                most = max(service.grace for service in left)
                self._report(
                    f"waiting for {names} to stop, {most:g}s at most (Ctrl-C again: kill now)"
                )
            self._hurry.wait(LOOK_EVERY)
        why = (
            "was killed at once" if self._hurry.is_set() else "did not stop in time and was killed"
        )
        for service in left:
            self._report(f"{service.name} {why}")
        for _, child in running:
            child.kill()  # what it started goes with it


def describe_exit(code: int) -> str:
    """`ended with exit code 1`, or `was killed by SIGKILL`."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def last_line(log: Path) -> str:
    """What a process said last, shortened: most often why it ended."""
    with log.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - LAST_LINE, 0))
        lines = file.read().decode(errors="replace").split("\n")
    said = [line.strip(" |\r\t") for line in lines if any(map(str.isalnum, line))]
    return said[-1] if said else "it said nothing"


def rotate(log: Path) -> None:
    """Keep the log of the run before as `<name>.log.1`."""
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
