"""The plots of docs/evaluation.md show what policies say today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CASE = "crash-of-a-slow-committer"


def strips(plot: Path) -> set[str]:
    """What it says in words; where its letters stand depends on the machine's fonts."""
    return set(re.findall(r'aria-label="(from: [^"]*)"', plot.read_text()))


@pytest.mark.heavy
def test_a_plot_shows_what_is_said_today(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """One of them: the others come from the same command, `make plots` draws them all."""
    command = [sys.executable, "benchmarks/detection_plots.py", "--into", tmp_path, "--only", CASE]
    subprocess.run(command, cwd=pytestconfig.rootpath, check=True)
    committed = pytestconfig.rootpath / "docs" / "plots" / f"{CASE}.svg"
    said = strips(committed)
    assert said == strips(tmp_path / f"{CASE}.svg")
    assert any("row: progress" in one and "is: STOP" in one for one in said)


def test_each_plot_is_shown(pytestconfig: pytest.Config) -> None:
    docs = pytestconfig.rootpath / "docs"
    shown = set(re.findall(r"\(plots/([\w-]+\.svg)\)", (docs / "evaluation.md").read_text()))
    assert shown == {plot.name for plot in (docs / "plots").iterdir()}
