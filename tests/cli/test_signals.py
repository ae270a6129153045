"""`stop_on_signals`, in a process that sends signals to itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, threading, time
from warren_cli.terminal import signals
hurry = threading.Event()
stop = signals.stop_on_signals(hurry)
for word in sys.argv[1:]:
    if word == "later":
        time.monotonic = lambda before=time.monotonic: before() + signals.SECOND_AFTER
    else:
        os.kill(os.getpid(), signal.Signals[word])
print(stop.is_set(), hurry.is_set())
"""


@pytest.mark.parametrize(
    ("happened", "stops", "hurries"),
    [
        ([], False, False),
        (["SIGINT"], True, False),
        (["SIGTERM"], True, False),
        (["SIGHUP"], True, False),
        (["SIGINT", "SIGINT"], True, False),  # a launcher passed on what the terminal sent
        (["SIGINT", "later", "SIGINT"], True, True),
        (["SIGTERM", "later", "SIGINT"], True, True),
        (["SIGINT", "later", "SIGTERM"], True, False),
    ],
)
def test_a_second_ctrl_c_hurries(happened: list[str], stops: bool, hurries: bool) -> None:
    run = [sys.executable, "-c", PROGRAM, *happened]
    output = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert output.split() == [str(stops), str(hurries)]
