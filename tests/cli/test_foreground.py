"""Ctrl-C in a terminal, with a script in make's place."""

from __future__ import annotations

import subprocess
import sys

SERVER = """
import signal, sys
from contextlib import nullcontext
from warren_cli.terminal.foreground import own_foreground
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
with own_foreground() if sys.argv[1] == "own" else nullcontext():
    print("serving", flush=True)
    signal.sigwait({signal.SIGINT})
"""
# What make does, as far as it matters here.
STARTER = """
import subprocess, sys
print("starter:", subprocess.call([sys.executable, "-c", *sys.argv[1:]]))
"""
# A terminal whose keyboard and screen are pipes; a process of its own, because it has to fork.
TERMINAL = """
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
"""
CTRL_C = b"\x03"


def run_in_terminal(command: list[str], when: bytes, keys: bytes) -> tuple[str, int]:
    """Type `keys` once the command has printed `when`; its output and its exit code."""
    with subprocess.Popen(
        [sys.executable, "-c", TERMINAL, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as terminal:
        assert terminal.stdin is not None
        assert terminal.stdout is not None
        try:
            output = b""
            while when not in output:
                output += (chunk := terminal.stdout.read1())
                assert chunk, output
            terminal.stdin.write(keys)
            terminal.stdin.flush()
            output += terminal.stdout.read()
            terminal.wait()
        finally:
            terminal.kill()
    return output.decode(), terminal.returncode


def starter(mode: str) -> list[str]:
    return [sys.executable, "-c", STARTER, SERVER, mode]


def test_ctrl_c_ends_the_server_in_order_and_who_started_it_goes_on() -> None:
    output, code = run_in_terminal(starter("own"), b"serving", CTRL_C)
    assert "starter: 0" in output
    assert code == 0


def test_otherwise_ctrl_c_would_hit_who_started_it_as_well() -> None:
    output, code = run_in_terminal(starter("shared"), b"serving", CTRL_C)
    assert "starter: 0" not in output
    assert code != 0
