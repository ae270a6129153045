"""How far a job is: a line for each step."""

import pytest
from warren_archiver.steps import Step, told
from warren_cli.spark import tell


def test_each_thing_is_told_before_it_is_done() -> None:
    said: list[Step] = []
    done = [(thing, len(said)) for thing in told("gold", ["a", "b"], said.append, str.upper)]
    assert done == [("a", 1), ("b", 2)]
    assert said == [
        Step("gold", "A", 0, 2),
        Step("gold", "B", 1, 2),
        Step("gold", "", 2, 2),
    ]


def test_a_step_is_a_line_and_the_end_of_a_phase_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell(Step("silver", "positions", 3, 14))
    tell(Step("silver", "", 14, 14))
    assert capsys.readouterr().err == "silver: 3 of 14, positions\n"
