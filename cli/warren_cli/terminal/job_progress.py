"""What a person sees of a job that takes minutes or hours: how far it is, and how long it will take
still. A bar on a terminal, elsewhere a line now and then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from warren.clock import Clock
from warren.words import duration

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
