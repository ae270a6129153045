"""Spark for the commands that compute from the archive."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from warren.clock import Clock, SystemClock
from warren.log import configure
from warren.settings import Settings
from warren.settings_file import load_settings
from warren.words import duration

from warren_cli.api_place import settings_file

LINE_EVERY = 30.0  # seconds
LOOK_EVERY = 1.0
Tasks = tuple[int, int]
"""Of what runs now: how many are over, and how many there are."""


class Step(Protocol):
    """As the archiver tells it."""

    @property
    def phase(self) -> str: ...
    @property
    def doing(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...


class JobProgress:
    """Called with each step. Tasks of the step that runs count as a part of it."""

    def __init__(
        self,
        console: Console,
        clock: Clock,
        tasks: Callable[[], Tasks] = lambda: (0, 0),
        line_every: float = LINE_EVERY,
    ) -> None:
        self._console = console
        self._clock = clock
        self._tasks = tasks
        self._line_every = line_every
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._step: Step | None = None
        self._began = clock.monotonic()
        self._completed = 0.0
        self._bar = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[doing]}"),
            console=console,
            disable=not console.is_terminal,
            speed_estimate_period=3600,
        )
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def __call__(self, step: Step) -> None:
        with self._lock:
            if self._step is None or step.phase != self._step.phase:
                self._began, self._completed = self._clock.monotonic(), 0.0
                self._bar.add_task(step.phase, total=step.total, doing=step.doing)
            self._step = step
            self._advance((0, 0))

    def __enter__(self) -> Self:
        self._bar.start()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join(LOOK_EVERY)  # it may wait for somebody who has just ended
        self._bar.stop()

    def _run(self) -> None:
        pause = LOOK_EVERY if self._console.is_terminal else self._line_every
        while not self._over.wait(pause):
            tasks = self._tasks()
            with self._lock:
                self._advance(tasks)
                if self._step is not None and not self._console.is_terminal:
                    passed = self._clock.monotonic() - self._began
                    self._console.print(line(self._step, self._completed, passed), soft_wrap=True)

    def _advance(self, tasks: Tasks) -> None:
        """A step has several stages, and each of them begins at nothing: never back."""
        step = self._step
        if step is None:
            return
        over, every = tasks
        part = over / every if every and step.done < step.total else 0.0
        self._completed = max(self._completed, step.done + part)
        task = self._bar.tasks[-1].id if self._bar.tasks else None
        if task is not None:
            doing = f"{step.doing}, {over} of {every} tasks" if every else step.doing
            self._bar.update(task, completed=self._completed, total=step.total, doing=doing)


def line(step: Step, completed: float, passed: float) -> str:
    """`silver: 3 of 14, positions; 1m 30s, about 5m left`. `completed` may be between two;
    `passed`: seconds of this phase."""
    said = f"{step.phase}: {step.done} of {step.total}"
    if step.doing:
        said += f", {step.doing}"
    said += f"; {duration(passed * 1000)}"
    if 0 < completed < step.total:
        said += f", about {duration(passed / completed * (step.total - completed) * 1000)} left"
    return said


if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_settings(config: Path | None, *, service: str = "") -> Settings:
    """The settings, with Spark's jars where they name none: those are downloaded the first time,
    but under spark-submit, which has its own.

    Raises SettingsError or LocalError.
    """
    settings = load_settings(settings_file(config))
    configure(settings.log, service=service)
    from warren_archiver.submitted import is_submitted
    from warren_local.jar_sets import SPARK_JARS
    from warren_local.jars import ensure_jars

    if is_submitted(os.environ):
        return settings
    jars = ensure_jars(SPARK_JARS, settings, Console(stderr=True))
    archiver = settings.archiver.model_copy(update={"jars_dir": str(jars)})
    return settings.model_copy(update={"archiver": archiver})


@contextmanager
def spark_session(settings: Settings, name: str) -> Iterator[SparkSession]:
    """A session of one's own, which takes some seconds to start; raises SparkUnavailable,
    and what Spark raises in it as ArchiveFailed or SettingsError.

    Ctrl-C ends the process, exit code 130: each table is written as a whole or not at all, so that
    the job can be begun again.
    """
    # A second, which other commands need not take.
    from warren_archiver.session import close_session, open_session
    from warren_archiver.spark_failures import told_by_spark

    try:
        with Console(stderr=True).status("Starting Spark"):
            spark = open_session(settings.archiver, name)
        # Spark's own handler calls the JVM over the connection that waits for an answer.
        signal.signal(signal.SIGINT, _interrupt)
        with told_by_spark(settings.archiver.path):
            try:
                yield spark
            except (Interrupted, KeyboardInterrupt):
                raise
            except BaseException:
                close_session(spark)
                raise
            close_session(spark)
    except (Interrupted, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdout.flush()
        print("warren: interrupted; run it again when you like: it begins anew", file=sys.stderr)
        # At once: threads of Spark's would tell at length that nobody answers them. A JVM of ours
        # ends with its input, whatever it is doing; Python's workers end with it.
        os._exit(130)


class Interrupted(BaseException):
    """By Ctrl-C. No KeyboardInterrupt: of that py4j logs where it was."""


def _interrupt(*_: object) -> None:
    raise Interrupted


@contextmanager
def job_progress(spark: SparkSession) -> Iterator[JobProgress]:
    """To be told of each step of a job in this session."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed

    tracker = spark.sparkContext.statusTracker()

    def tasks() -> tuple[int, int]:
        try:
            found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        except (Py4JError, OSError):  # the JVM has ended: what waits for it says so
            return 0, 0
        running = [stage for stage in found if stage is not None]
        over = sum(stage.numCompletedTasks for stage in running)
        return over, sum(stage.numTasks for stage in running)

    with JobProgress(Console(stderr=True), SystemClock(), tasks) as progress:
        yield progress
