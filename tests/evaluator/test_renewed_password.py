"""The home cluster's password is renewed while the worker runs: it goes on with the new one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.evaluator_process import Home
from support.offset_events import commits
from support.renewed_password import renewed_password
from support.waiting import eventually

pytestmark = [pytest.mark.kafka, pytest.mark.heavy]


def test_a_worker_logs_in_with_the_renewed_password(
    pytestconfig: pytest.Config, tmp_path: Path, unique: str
) -> None:
    with renewed_password(pytestconfig.rootpath, tmp_path, "old") as kafka:
        variables = {
            f"WARREN_HOME__KAFKA__{name.upper().replace('.', '_')}": value
            for name, value in kafka.login().items()
        }
        home = Home(kafka.bootstrap, unique, tmp_path)
        with Home(kafka.secured, unique, tmp_path, extra=variables).worker() as worker:
            worker.start().await_ready()
            sender = home.events()
            sender.send(*commits(1, 2))
            sender.flush()
            home.await_caught_up()
            kafka.renew("new")
            sender.send(*commits(1, 2, 3))
            sender.flush()
            home.await_caught_up()
            assert len(home.records("lag")) == 3
            eventually(worker.is_ready, message="the same worker is ready")
            text = worker.log.read_text()
            assert "credentials renewed" in text
            assert "Traceback" not in text
            assert worker.terminate() == 0
