"""A user's mistakes: one clear line, exit code 2, no traceback, nothing left running."""

import socket
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
