"""Fixtures that all tests share: a real broker, a real Redis, names of one's own."""

import os
import re
import signal
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings
from support import real_things, suite_cost
from support.forgetful_broker import ForgetfulBroker, forgetful_broker
from support.secured_kafka import SecuredKafka, user_names
from support.servers import (
    Provider,
    choose_provider,
    container_kafka,
    container_valkey,
    docker_is_reachable,
    embedded_kafka,
    embedded_valkey,
)
from support.shared_kafka import shared_kafka
from support.two_brokers import running_two_brokers
from warren_local import server
from warren_local.kafka import EmbeddedKafka
from warren_local.server import EmbeddedValkey, free_port
from xdist.scheduler import LoadScopeScheduling

#: Which worker this process is, from 0, and of how many.
WORKER = (
    int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")),
    int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")),
)


def pytest_configure(config: pytest.Config) -> None:
    """Ctrl-C works in the processes that tests start, also when the suite runs in the background.

    A shell starts background commands with SIGINT ignored, and that is inherited.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(real_things)
    config.pluginmanager.register(suite_cost.SuiteCost(config))
    # No worker is given a port that another one is about to listen on.
    worker, workers = WORKER
    span = (server.HIGHEST - server.LOWEST) // workers
    server.LOWEST += worker * span
    server.HIGHEST = server.LOWEST + span
    # What code under test logs as nobody configured it: rich tracebacks take seconds each.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.stdlib.add_log_level, plain])


# The same examples in every run, however slow the machine is: a failure can be had again.
settings.register_profile(
    "warren",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("warren")


# Tests that share what is dear run in one worker: a running Warren, or one Spark, whose first
# queries need several times what later ones need. Others are apart by file.
TOGETHER = {
    "end_to_end": "end to end",
    "containers": "containers",
    **dict.fromkeys(
        ("test_archive", "test_silver", "test_gold", "test_gold_figures", "test_evaluations"),
        "Spark: tables",
    ),
    **dict.fromkeys(("test_process", "test_cluster"), "Spark: processes"),
    **dict.fromkeys(
        (
            *("test_amount", "test_checkpoint", "test_contract_view", "test_days", "test_events"),
            *("test_lake", "test_lost_records", "test_replay", "test_failed_pass"),
            *("test_session", "test_silver_query", "test_spark_failures", "test_upkeep"),
            *("test_strange_records", "test_upsert"),
        ),
        "Spark: the rest",
    ),
}
# They judge days of simulated groups, and wait for nothing: begun last, they fill the gaps.
SIMULATIONS = ("evaluation", "judgement")


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist's schedulers are not typed
    """Tests of a file run in one worker, in order; those of `TOGETHER` count as one file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        *_, folder, name = file.removesuffix(".py").split("/")
        return TOGETHER.get(folder) or (TOGETHER.get(name, file) if folder == "archiver" else file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is cheap comes first, that its failures are seen within a minute; then what takes
    longest.
    """
    starts = {item.path for item in items if real_things.starts_something(item)}

    def place(item: pytest.Item) -> int:
        if item.path.parent.name in SIMULATIONS:
            return 3
        if item.path not in starts:
            return 0
        return 1 if item.path.parent.name in ("end_to_end", "archiver") else 2

    items.sort(key=place)


@dataclass(frozen=True, slots=True)
class Broker:
    """A Kafka cluster that tests share; each test uses names of its own (`unique`)."""

    bootstrap: str


@pytest.fixture(scope="session")
def broker(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    """WARREN_TEST_BOOTSTRAP, else a container when Docker is reachable, else an embedded one."""
    match choose_provider("WARREN_TEST_BOOTSTRAP", os.environ, docker_is_reachable):
        case Provider.GIVEN:
            yield Broker(os.environ["WARREN_TEST_BOOTSTRAP"])
        case Provider.CONTAINER:
            with container_kafka() as bootstrap:
                yield Broker(bootstrap)
        case Provider.EMBEDDED:
            yield Broker(**shared_kafka("plain", pytestconfig, tmp_path_factory))


@pytest.fixture(scope="session")
def secured_kafka(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> SecuredKafka:
    """A broker with passwords and rights, which tests share like `broker`."""
    addresses = shared_kafka("secured", pytestconfig, tmp_path_factory)
    return SecuredKafka(**addresses, users=iter(user_names(*WORKER)))


@pytest.fixture
def own_kafka(pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[EmbeddedKafka]:
    """A broker of the test's own, which it may kill."""
    with embedded_kafka(pytestconfig.rootpath, tmp_path) as kafka:
        yield kafka


@pytest.fixture
def forgetful(pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[ForgetfulBroker]:
    """A broker of the test's own that can make clients forget it."""
    with forgetful_broker(pytestconfig.rootpath, tmp_path) as proxy:
        yield proxy


@pytest.fixture
def two_brokers(
    pytestconfig: pytest.Config, tmp_path: Path
) -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """A cluster of the test's own; the second broker may be stopped."""
    with running_two_brokers(pytestconfig.rootpath, tmp_path) as brokers:
        yield brokers


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """WARREN_TEST_REDIS, else a container when Docker is reachable, else an embedded Valkey."""
    match choose_provider("WARREN_TEST_REDIS", os.environ, docker_is_reachable):
        case Provider.GIVEN:
            yield os.environ["WARREN_TEST_REDIS"]
        case Provider.CONTAINER:
            with container_valkey() as url:
                yield url
        case Provider.EMBEDDED:
            with embedded_valkey(tmp_path_factory.mktemp("redis")) as url:
                yield url


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    """A Valkey of the test's own, which it may stop."""
    with EmbeddedValkey(free_port(), data_dir=tmp_path, log=tmp_path / "valkey.log") as valkey:
        yield valkey


@pytest.fixture
def unique(request: pytest.FixtureRequest) -> str:
    """A name that no other test, nor an earlier run on the same broker, has used."""
    test = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:40]
    return f"{test}-{uuid.uuid4().hex[:8]}"
