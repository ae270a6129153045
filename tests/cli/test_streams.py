"""Filters between other programs."""

from __future__ import annotations

import subprocess
import sys

import pytest

WINDOW = '{"name": "w", "now_s": 1, "current_lag": 0, "broker_head_offsets": [], "offsets": []}'


@pytest.mark.parametrize(
    ("command", "line"), [("decode", '{"key_hex": "", "value_hex": null}'), ("evaluate", WINDOW)]
)
def test_a_reader_that_has_enough_is_no_failure(command: str, line: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "warren_cli.main", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(f"{line}\n" * 10, timeout=60)
    assert (process.returncode, said) == (0, "")
