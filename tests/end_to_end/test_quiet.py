"""Beside groups that are well Warren says nothing, from its very first start on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support.servers import jars_directory

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(600)]


def test_nobody_is_told_anything_of_groups_that_are_well(pytestconfig: pytest.Config) -> None:
    """benchmarks/quiet.py, a minute of it: groups that were there before, and new ones."""
    root = pytestconfig.rootpath
    command = [sys.executable, root / "benchmarks" / "quiet.py", "--groups", "28"]
    ran = subprocess.run(
        [*command, "--before", "15", "--seconds", "60"],
        env=os.environ | {"WARREN_LOCAL__JARS_DIR": str(jars_directory(root))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["status_changes"], found["notifications"]) == (0, 0), ran.stderr
    assert found["judged"] >= 28
