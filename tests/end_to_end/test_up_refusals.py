"""A user's mistakes: one clear line, exit code 2, no traceback, nothing started."""

from pathlib import Path

import pytest
from support.running import start
from support.waiting import eventually


@pytest.mark.kafka
def test_a_wrong_setting_of_a_service(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    file = tmp_path / "warren.toml"
    file.write_text('[notifier.channels.team]\ntype = "webhook"\nurl = "https://example.org/"\n')
    state = tmp_path / "state"
    running = start(state, pytestconfig.rootpath, "--config", str(file))
    eventually(lambda: running.process.poll() is not None, message="it ends")
    refusal = "warren: notifier.channels.team: secret: is needed, or a body\n"
    assert (running.process.returncode, running.output.read_text()) == (2, refusal)
    assert not (state / "logs").exists()
