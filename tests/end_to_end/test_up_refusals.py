"""A user's mistakes: one clear line, exit code 2, no traceback, nothing left running."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.running import start
from support.waiting import eventually


@pytest.mark.kafka
def test_a_taken_port_is_named_with_the_way_out(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        running = start(tmp_path / "state", pytestconfig.rootpath, "--api-port", str(port))
        eventually(lambda: running.process.poll() is not None, message="it ends")
    output = running.output.read_text()
    assert running.process.returncode == 2, output
    assert str(port) in output
    assert "WARREN_API__PORT" in output or "--api-port" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "arguments", [["--help"], ["up", "--help"], ["status", "--help"], ["topics", "--help"]]
)
def test_help(arguments: list[str]) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "warren_cli.main", *arguments], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    assert "Usage" in found.stdout


def test_a_misspelt_setting(tmp_path: Path) -> None:
    (tmp_path / "warren.toml").write_text("[api]\nprot = 1\n")
    found = subprocess.run(
        [sys.executable, "-m", "warren_cli.main", "config", "check"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert found.returncode == 2
    assert found.stderr == "warren: api.prot: unknown setting; did you mean api.port?\n"
