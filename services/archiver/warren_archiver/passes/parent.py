"""The process that stays: it serves what passes have counted, and starts them when it is time.

One pass: a process that archives what is there, and ends. After it another one writes the reports
that pages link, where `api.reports_dir` names a folder.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import structlog
from warren.clock import Clock, SystemClock
from warren.contracts.topics import ARCHIVED
from warren.errors import SettingsError
from warren.lake_path import local_path
from warren.leash import leashed
from warren.service import probed, stop_by_signal
from warren.settings import ArchiverSettings, Settings

from warren_archiver.passes.shared_metrics import (
    SERVER,
    all_metrics,
    pass_is_over,
    share_metrics,
)

PREFIX = "warren-archiver: "
"""Begins the line in which the archiver says why it ends."""


class Child:
    """A running pass, or one that writes reports. What it says on standard error is ours to say."""

    def __init__(self, name: str, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._name = name
        self._process = subprocess.Popen(
            leashed(list(command)),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._reason = self._last = ""
        self._reader = threading.Thread(target=self._read, name=name, daemon=True)
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
            return f"the {self._name} was ended by {signal.Signals(-code).name}"
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


log = structlog.get_logger(__name__)

FIRST_PAUSE = 10.0
"""Seconds from a pass that failed to the next one; twice as many each time."""
LONGEST_PAUSE = 600.0
"""As many failures an hour as the alert WarrenArchiverFails looks for, and more."""


class Schedule:
    """Passes begin `every` seconds. One that fails is tried again sooner."""

    def __init__(
        self, clock: Clock, *, first: float, every: float, early: Iterable[float] = ()
    ) -> None:
        """`first`: seconds from now to the first pass; `early`: from each to the next, as long as
        there are such, where that is sooner.
        """
        self._early = iter(early)
        self._clock = clock
        self._every = every
        self._pause = FIRST_PAUSE
        self._due_at = clock.monotonic() + first
        self.problem = ""
        """Why the last pass failed; empty where it did not."""

    @property
    def due_in(self) -> float:
        """Seconds to the next pass."""
        return max(0.0, self._due_at - self._clock.monotonic())

    def begin(self) -> None:
        """A pass begins now."""
        every = min(next(self._early, self._every), self._every)
        self._due_at = self._clock.monotonic() + every

    def end(self, problem: str) -> None:
        """The pass has ended; `problem` is empty where it went well."""
        self.problem = problem
        if not problem:
            self._pause = FIRST_PAUSE
            return
        self._due_at = self._clock.monotonic() + min(self._pause, self._every)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)


FIRST_AFTER = 30.0
"""Seconds from the start to the first pass: what else starts with it has the machine until then."""
EARLY = (5 * 60.0, 10 * 60.0, 45 * 60.0)
"""Seconds between the first passes of a new archive, whose reports were empty for an hour."""
LOOK_EVERY = 0.2
WRONG_SETTING = 2
"""The exit code that says so: nothing but another start can help."""


def pass_command(config: Path | None) -> list[str]:
    """Of one pass, by that warren.toml."""
    command = [sys.executable, "-m", "warren_archiver", "--once"]
    return command if config is None else [*command, "--config", str(config)]


def pass_environ(archiver: ArchiverSettings) -> dict[str, str]:
    """With what a pass cannot know from warren.toml."""
    environ = dict(os.environ)
    if archiver.jars_dir:
        environ["WARREN_ARCHIVER__JARS_DIR"] = archiver.jars_dir
    if sys.stderr.isatty():
        environ.setdefault("WARREN_LOG__FORMAT", "console")
    return environ


def report_command(settings: Settings, config: Path | None) -> list[str]:
    """Of what writes the reports that pages link; empty where nobody wants them."""
    if not (folder := settings.api.reports_dir):
        return []
    command = [sys.executable, "-m", "warren_archiver.report", "--into", folder]
    return command if config is None else [*command, "--config", str(config)]


def run_passes(
    settings: Settings, config: Path | None, command: Sequence[str] | None = None
) -> None:
    """Until SIGTERM or SIGINT, which end a running pass as well. `command`: another kind of pass.
    Reports follow a pass that went well, and are given up when the next one is due.

    Raises SettingsError.
    """
    command = command or pass_command(config)
    reports = report_command(settings, config)
    stop = threading.Event()
    stop_by_signal(stop.set)
    with tempfile.TemporaryDirectory(prefix="warren-archiver-") as directory:
        archiver = settings.archiver
        folder = local_path(archiver.path)  # None: nobody can say without Spark
        is_new = folder is not None and not (folder / "bronze/events/_delta_log").exists()
        first, early = (0.0, EARLY) if is_new else (FIRST_AFTER, ())
        schedule = Schedule(SystemClock(), first=first, every=archiver.every, early=early)
        quiet = dict(os.environ)  # reports count nothing, and write no files of metrics
        _begin_metrics(directory)
        with probed("archiver", settings, all_metrics(directory), lambda: schedule.problem or True):
            log.info(
                "passes on a schedule", every=archiver.every, first_in=first, lake=archiver.path
            )
            while not stop.wait(schedule.due_in):
                schedule.begin()
                child = Child("pass", command, pass_environ(archiver))
                problem = _end_of(child, lambda: stop.wait(LOOK_EVERY))
                if child.exit_code() == WRONG_SETTING:
                    raise SettingsError("", problem)
                schedule.end(problem)
                pass_is_over(directory)
                if stop.is_set():
                    break
                if problem:
                    from warren.metrics.archiver import ARCHIVER_FAILURES

                    ARCHIVER_FAILURES.inc()
                    again_in = round(schedule.due_in)
                    log.error("a pass failed", problem=problem, again_in=again_in)
                elif reports:
                    child = Child("report", reports, quiet)
                    problem = _end_of(child, lambda: stop.wait(LOOK_EVERY) or not schedule.due_in)
                    if problem and not stop.is_set():
                        log.error("reports are not written", problem=problem)


def _end_of(child: Child, is_enough: Callable[[], bool]) -> str:
    """Wait until it has ended, or has been asked to. Why it failed."""
    while child.exit_code() is None:
        if is_enough():
            child.ask_to_stop()
            break
    return child.problem()


def _begin_metrics(directory: str) -> None:
    """Those that alerts look for are there before anything has been counted."""
    share_metrics(SERVER, directory)
    from warren.metrics.archiver import ARCHIVER_LOST, ARCHIVER_STALLED

    ARCHIVER_STALLED.labels("passes").set(0)
    for topic in ARCHIVED:
        ARCHIVER_LOST.labels(topic.name)
