"""How far a job is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.waiting import eventually
from warren.clock import ManualClock
from warren_archiver.steps import Step, told
from warren_cli.spark import JobProgress, line


def test_each_thing_is_told_before_it_is_done() -> None:
    said: list[Step] = []
    done = [(thing, len(said)) for thing in told("gold", ["a", "b"], said.append, str.upper)]
    assert done == [("a", 1), ("b", 2)]
    assert said == [
        Step("gold", "A", 0, 2),
        Step("gold", "B", 1, 2),
        Step("gold", "", 2, 2),
    ]


@pytest.mark.parametrize(
    ("step", "completed", "said"),
    [
        (Step("silver", "positions", 0, 14), 0.0, "silver: 0 of 14, positions; 1m 30s"),
        (
            Step("silver", "minutes", 3, 14),
            3.5,
            "silver: 3 of 14, minutes; 1m 30s, about 4m 30s left",
        ),
        (Step("gold", "", 9, 9), 9.0, "gold: 9 of 9; 1m 30s"),
    ],
)
def test_a_line_says_how_far_it_is_and_what_is_left(
    step: Step, completed: float, said: str
) -> None:
    assert line(step, completed, 90) == said


def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    clock, written = ManualClock(), io.StringIO()
    console = Console(file=written, force_terminal=False)
    with JobProgress(console, clock, lambda: (1, 4), line_every=0.01) as progress:
        progress(Step("judging", "1,000 events", 0, 1))
        clock.advance(60)
        wanted = "judging: 0 of 1, 1,000 events; 1m, about 3m left\n"
        eventually(lambda: wanted in written.getvalue(), message="a line says what is left")
        progress(Step("gold", "days", 0, 2))
        eventually(lambda: "gold: 0 of 2, days; 0s" in written.getvalue(), message="and the next")


def test_a_terminal_shows_a_bar_for_each_phase_and_tasks_beside_it() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=120, color_system=None)
    with JobProgress(console, ManualClock(), lambda: (3, 4)) as progress:
        progress(Step("silver", "positions", 1, 2))
        eventually(lambda: "3 of 4 tasks" in written.getvalue(), message="tasks are shown")
        progress(Step("silver", "", 2, 2))
        progress(Step("gold", "days", 0, 2))
    *_, silver, gold = [text for text in written.getvalue().splitlines() if "/" in text]
    assert "silver" in silver
    assert "2/2" in silver
    assert "gold" in gold
    assert "0/2" in gold
