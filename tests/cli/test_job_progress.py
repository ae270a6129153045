"""How far a job is: a line for each step."""

import pytest
from warren_archiver.steps import Step
from warren_cli.spark import tell


def test_a_step_is_a_line_and_the_end_of_a_phase_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell(Step("silver", "positions", 3, 14))
    tell(Step("silver", "", 14, 14))
    assert capsys.readouterr().err == "silver: 3 of 14, positions\n"
