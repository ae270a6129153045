"""One `warren up` for all end-to-end tests: embedded Kafka, services, demo."""

from collections.abc import Iterator

import pytest
from support.running import METRICS_OF, Running, start, stop, user_file
from support.waiting import eventually
from warren_local.server import free_port


@pytest.fixture(scope="package")  # it takes a core: the tests after these have better use for it
def warren(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
) -> Iterator[Running]:
    state = tmp_path_factory.mktemp("up") / "state"
    config = user_file(state)
    served = "".join(f"[{name}]\nmetrics_port = {free_port()}\n" for name in METRICS_OF)
    # Tests of the archiver wait for passes: its section is the last one.
    config.write_text(f"{served}every = 20\n")
    archived = any(item.get_closest_marker("spark") for item in request.session.items)
    without = [] if archived else ["--without", "archiver"]  # it takes a core
    running = start(state, pytestconfig.rootpath, "--config", str(config), *without)
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
