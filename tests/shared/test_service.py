"""What all services share: the end by a signal."""

import subprocess
import sys
from signal import SIGINT, SIGTERM

import pytest

STUCK = """
import threading
from warren.service import stop_by_signal

stop_by_signal(lambda: print("told", flush=True), 0.2)
print("up", flush=True)
threading.Event().wait()
"""


@pytest.mark.parametrize("signal", [SIGTERM, SIGINT])
def test_who_does_not_stop_in_time_is_ended(signal: int) -> None:
    """What is left is in topics: the supervisor need not kill it, nor call it a failure."""
    with subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.startswith("told\n")
    assert "not stopped in time, ended" in said
