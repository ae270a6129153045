"""The terminal: signals, and how wide output is."""

import json
import subprocess
import sys

import pytest
from rich.table import Table
from warren_cli.terminal import output_console

# Sends signals to itself; a process for each case, but one that starts Python.
SIGNALS = """
import json, os, signal, sys, threading, time
from warren_cli import terminal as signals
for words in json.loads(sys.argv[1]):
    if os.fork() == 0:
        hurry = threading.Event()
        stop = signals.stop_on_signals(hurry)
        for word in words:
            if word == "later":
                time.monotonic = lambda before=time.monotonic: before() + signals.SECOND_AFTER
            else:
                os.kill(os.getpid(), signal.Signals[word])
        os.write(1, f"{stop.is_set()} {hurry.is_set()}\\n".encode())
        os._exit(0)
    os.wait()
"""
HAPPENED: list[tuple[list[str], str]] = [
    ([], "False False"),
    (["SIGINT"], "True False"),
    (["SIGTERM"], "True False"),
    (["SIGHUP"], "True False"),
    (["SIGINT", "SIGINT"], "True False"),  # a launcher passed on what the terminal sent
    (["SIGINT", "later", "SIGINT"], "True True"),
    (["SIGTERM", "later", "SIGINT"], "True True"),
    (["SIGINT", "later", "SIGTERM"], "True False"),
]


def test_a_second_ctrl_c_hurries() -> None:
    run = [sys.executable, "-c", SIGNALS, json.dumps([words for words, _ in HAPPENED])]
    output = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert output.splitlines() == [found for _, found in HAPPENED]


def test_a_pipe_gets_names_whole_and_columns_say_how_wide_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(box=None)
    table.add_column("group", overflow="fold")
    table.add_row(long := "payments-reconciliation-worker-" * 5)
    monkeypatch.delenv("COLUMNS", raising=False)
    output_console().print(table)
    assert long in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "60")
    output_console().print(table)
    assert max(map(len, capsys.readouterr().out.splitlines())) == 60
