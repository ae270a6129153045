"""One `warren up` for all end-to-end tests of the session: embedded Kafka, services, demo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.running import Running, start, stop
from support.waiting import eventually


@pytest.fixture(scope="session")
def warren(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("up") / "state", pytestconfig.rootpath)
    try:
        eventually(
            lambda: running.process.poll() is not None or running.ready(),
            timeout=120,
            message="the API is ready",
        )
        assert running.process.poll() is None, running.output.read_text()
        yield running
        assert stop(running) == 0, running.output.read_text()
        assert not (running.state / "run.json").exists()
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
