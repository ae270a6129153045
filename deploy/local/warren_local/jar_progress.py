"""What a person sees while the jars are fetched."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from warren_local.ivy import Step


class JarProgress:
    """A bar that counts by jar: first as dependencies are resolved, then as jars arrive."""

    def __init__(self, console: Console, title: str, count: int) -> None:
        self._title = title
        self._count = count
        self._stage = "resolving"
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description:<24}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[name]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(self._description(), total=count, name="")

    def _description(self) -> str:
        return f"{self._title} jars: {self._stage}"

    def step(self, step: Step) -> None:
        """One dependency became known, or one jar arrived."""
        if step.stage != self._stage:
            self._stage = step.stage
            self._bar.reset(self._task, description=self._description(), total=self._count, name="")
        self._bar.update(self._task, advance=1, name=step.name)

    def __enter__(self) -> Self:
        if not self._console.is_terminal:
            self._console.print(f"{self._title} jars: fetching {self._count}, once")
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
