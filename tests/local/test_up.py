"""`warren up` when it must not start anything, and when it is told to stop early."""

import re
import socket
import stat
import threading
from pathlib import Path

import pytest
from conftest import Broker
from support.waiting import eventually
from warren.settings import Settings
from warren_local.plan import DemoPorts, Options, Plan, make_plan
from warren_local.server import (
    JavaMissing,
    StartRefused,
    Stopped,
    free_port,
)
from warren_local.state_folder import guard, instance_name
from warren_local.up import child_environ, run, warren_services


class Lines:
    """A screen that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def follow(self, url: str) -> None:
        self.lines.append(f"following {url}")

    def close(self) -> None:
        self.lines.append("closed")


def plan(state: Path, jars: Path | None = None, **options: object) -> Plan:
    ports = {name: free_port() for name in ("api_port", "kafka_port", "redis_port")}
    settings = Settings.model_validate({"local": {"jars_dir": str(jars or "")}})
    chosen = Options(**{"state_dir": str(state), **ports, **options})  # type: ignore[arg-type]
    return make_plan(settings, chosen, demo_ports=DemoPorts(*(free_port() for _ in range(3))))


@pytest.fixture
def screen() -> Lines:
    return Lines()


def test_a_second_run_in_the_same_directory_is_refused(tmp_path: Path, screen: Lines) -> None:
    with (
        guard(tmp_path / "up.guard", wait=False),
        pytest.raises(StartRefused, match="--state-dir"),
    ):
        run(plan(tmp_path), screen, threading.Event())
    assert screen.lines == []


@pytest.mark.parametrize(
    ("option", "variable"),
    [
        ("api_port", "WARREN_API__PORT"),
        ("kafka_port", "WARREN_LOCAL__KAFKA_PORT"),
        ("redis_port", "WARREN_LOCAL__REDIS_PORT"),
    ],
)
def test_a_taken_port_is_refused_before_anything_starts(
    tmp_path: Path, screen: Lines, option: str, variable: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartRefused, match=variable):
            run(plan(tmp_path, **{option: port}), screen, threading.Event())
    same = plan(tmp_path, api_port=port, kafka_port=port)
    with pytest.raises(StartRefused, match="for the API is taken by the embedded Kafka broker"):
        run(same, screen, threading.Event())
    assert screen.lines == []
    assert not (tmp_path / "run.json").exists()


@pytest.mark.servers
def test_what_a_run_writes_is_its_owners_alone(
    tmp_path: Path, screen: Lines, broker: Broker
) -> None:
    """Also in a directory, and a log, of an older version."""
    state, stop = tmp_path / "state", threading.Event()
    (state / "logs").mkdir(parents=True)
    (state / "logs" / "redis.log").write_text("of before\n")
    made = plan(state, bootstrap=broker.bootstrap, without=("archiver", "freshness", "notifier"))
    thread = threading.Thread(target=run, args=(made, screen, stop))
    thread.start()
    try:
        eventually((state / "run.json").exists, message="it runs")
        eventually((state / "logs" / "api.log").exists, message="the services are started")
        written = [state, *state.iterdir(), *(state / "logs").iterdir()]
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in written}
    finally:
        stop.set()
        thread.join(60)
    assert (modes["state"], modes["logs"]) == (0o700, 0o700)
    for name in ("run.json", "warren.toml", "instance", "redis.log", "api.log"):
        assert modes[name] == 0o600, name


def test_a_directory_that_is_for_everybody_is_refused(tmp_path: Path, screen: Lines) -> None:
    tmp_path.chmod(0o1777)
    with pytest.raises(StartRefused, match="--state-dir"):
        run(plan(tmp_path), screen, threading.Event())
    assert list(tmp_path.iterdir()) == []


def test_without_java_nothing_starts(
    tmp_path: Path, screen: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(JavaMissing):
        run(plan(tmp_path / "state"), screen, threading.Event())
    assert screen.lines == []


@pytest.mark.servers
def test_told_to_stop_while_the_cluster_does_not_answer(tmp_path: Path, screen: Lines) -> None:
    stop = threading.Event()
    # Bound, not listening: it refuses, and nobody else's broker can come to be there.
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        made = plan(tmp_path, bootstrap=f"127.0.0.1:{nobody.getsockname()[1]}")
        thread = threading.Thread(target=run, args=(made, screen, stop))
        thread.start()
        eventually(lambda: len(screen.lines) == 2, message="it connects")
        stop.set()
        thread.join(60)
    home = made.settings.home.bootstrap
    naming, *others = screen.lines
    assert others == [f"connecting to {home}", "closed", "stopping", "stopped"]
    assert not (tmp_path / "run.json").exists()
    # The cluster is not ours alone: a name is drawn, told, and kept for the next start.
    drawn = (tmp_path / "instance").read_text().strip()
    assert re.fullmatch("warren-[0-9a-f]{6}", drawn)
    assert f"called {drawn}, and its topics on {home} begin with {drawn}." in naming
    assert instance_name(tmp_path) == drawn


@pytest.mark.servers
def test_told_to_stop_while_jars_are_fetched(
    tmp_path: Path, screen: Lines, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(*_: object, **__: object) -> Path:
        raise Stopped

    monkeypatch.setattr("warren_local.up.ensure_jars", fetch)
    run(plan(tmp_path, bootstrap=broker.bootstrap), screen, threading.Event())
    assert screen.lines[-3:] == ["closed", "stopping", "stopped"]
    assert screen.lines.count("stopped") == 1


def test_services_get_the_settings_by_file_only() -> None:
    environ = child_environ({"PATH": "/bin", "WARREN_API__PORT": "1", "WARREN_TEST_X": "2"})
    assert environ == {"PATH": "/bin", "PYTHONUNBUFFERED": "1"}


def test_the_demo_runs_only_where_it_belongs(tmp_path: Path) -> None:
    def names(made: Plan) -> list[str]:
        return [service.name for service in warren_services(made, tmp_path / "warren.toml")]

    services = ["collector", "evaluator", "freshness", "notifier", "api", "archiver"]
    assert names(plan(tmp_path)) == ["mailbox", "webhooks", *services, "demo"]
    assert names(plan(tmp_path, demo=False)) == services
    assert names(plan(tmp_path, bootstrap="kafka:1")) == services


def test_some_services_may_be_left_out(tmp_path: Path) -> None:
    made = plan(tmp_path, without=("archiver", "notifier"))
    names = [service.name for service in warren_services(made, tmp_path / "warren.toml")]
    assert names == ["collector", "evaluator", "freshness", "api", "demo"]
