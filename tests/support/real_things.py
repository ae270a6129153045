"""A plugin of pytest: markers say which real things a test starts, a guard sees the others."""

import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

#: What a test may start, by the marker that says so.
MARKERS = {
    "kafka": "starts a Kafka broker, or a Warren with one",
    "spark": "starts Spark",
    "browser": "starts Chromium",
    "containers": "starts containers",
    "servers": "starts another server: Valkey, ZooKeeper, Prometheus, Alertmanager",
    "smoke": "one test of each real thing: `make test-fast` runs these, too",
    "contract": "what it needs is dear, and `make test` runs it once nevertheless",
    "heavy": "`make test-heavy` runs it: it needs what is dear, kills, or days of simulated lives",
}

REAL = frozenset({"kafka", "spark", "browser", "containers", "servers"})
#: What is dear: a test that starts it is heavy, unless it is the one of a contract.
DEAR = frozenset({"spark", "browser"})

#: The fixtures that start something, with what they start.
BY_FIXTURE = {
    "broker": ("kafka",),
    "secured_kafka": ("kafka",),
    "own_kafka": ("kafka", "heavy"),
    "forgetful": ("kafka", "heavy"),
    "two_brokers": ("kafka", "heavy"),
    "redis_url": ("servers",),
    "valkey": ("servers",),
    "zookeeper": ("servers",),
    "real": ("servers",),
    "spark": ("spark",),
    "spark_jars": ("spark",),
    "browser": ("browser",),
    "warren": ("kafka", "servers"),
    "project": ("containers",),
}

#: What the command line of a started process has in it, with what it is.
COMMANDS = (
    ("kafka.Kafka", "kafka"),
    ("warren_cli.main up --state-dir", "kafka"),
    ("org.apache.spark", "spark"),
    ("bin/spark-submit", "spark"),
    ("-m warren_archiver ", "spark"),
    ("warren_cli.main replay", "spark"),
    ("playwright", "browser"),
    ("chromium", "browser"),
    ("docker compose up", "containers"),
    ("docker-compose", "containers"),
    ("docker run", "containers"),
    ("valkey-server", "servers"),
    ("redis-server", "servers"),
    ("org.apache.zookeeper", "servers"),
    ("prometheus", "servers"),
    ("alertmanager", "servers"),
)


def started_by(arguments: Iterable[Any]) -> set[str]:
    """Return the markers of what a command line starts."""
    command = shlex.join(str(argument) for argument in arguments)
    return {marker for part, marker in COMMANDS if part in command}


#: What the budgets count, by the part of a command line that starts it, and how many.
COUNTED = (
    ("kafka.Kafka", "brokers", 1),
    ("support.shared_kafka", "brokers", 1),
    ("warren_cli.main up --state-dir", "brokers", 1),
    ("warren_cli.main up --state-dir", "services", 6),
    ("bin/spark-submit", "JVMs of Spark", 1),
    ("-m warren_archiver ", "JVMs of Spark", 1),
    ("warren_cli.main replay", "JVMs of Spark", 1),
    ("playwright", "browsers", 1),
    *((f"-m warren_{name}", "services", 1) for name in ("api", "collector", "evaluator")),
    *((f"-m warren_{name}", "services", 1) for name in ("freshness", "notifier", "archiver")),
)

_STARTED: Counter[str] = Counter()


def things_started() -> Counter[str]:
    """Return what this process has started so far, by kind."""
    return _STARTED


def starts_something(item: pytest.Item) -> bool:
    """Whether a test starts a real thing, by its markers."""
    return not REAL.isdisjoint(mark.name for mark in item.iter_markers())


class Guard:
    """Watch the processes that a test starts, by Python's audit events (PEP 578).

    `missing`: the markers of what the running test has started without one.
    """

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self._allowed: frozenset[str] | None = None
        sys.addaudithook(self._see)

    def begin(self, item: pytest.Item) -> None:
        """Watch for `item` from now on."""
        self._allowed = frozenset(mark.name for mark in item.iter_markers())
        self.missing = set()

    def end(self) -> None:
        """Watch no more: what is started between tests is nobody's."""
        self._allowed = None

    def _see(self, event: str, details: tuple[Any, ...]) -> None:
        if event != "subprocess.Popen":
            return
        parts = [details[1]] if isinstance(details[1], str | bytes) else details[1]
        command = shlex.join(str(part) for part in parts)
        for part, kind, number in COUNTED:
            _STARTED[kind] += number if part in command else 0
        if self._allowed is not None:
            self.missing |= started_by(parts) - self._allowed


_GUARD = pytest.StashKey[Guard]()


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.stash[_GUARD] = Guard()


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses among them
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            for marker in BY_FIXTURE.get(fixture, ()):
                item.add_marker(marker)
        names = {mark.name for mark in item.iter_markers()}
        if names & DEAR and not names & {"contract", "smoke"}:
            item.add_marker("heavy")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    guard = item.config.stash[_GUARD]
    guard.begin(item)
    try:
        return (yield)
    finally:
        guard.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield
    if missing := item.config.stash[_GUARD].missing:
        pytest.fail(f"starts {', '.join(sorted(missing))} without the marker", pytrace=False)
