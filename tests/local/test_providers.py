from __future__ import annotations

import socket
from pathlib import Path

import pytest
from support.providers import Provider, choose_provider, docker_is_reachable
from support.servers import container_properties, docker_hostname, environment_name


def _must_not_be_asked() -> bool:
    pytest.fail("Docker was asked although a server was given")


def test_a_given_server_wins_and_docker_is_not_asked() -> None:
    environ = {"WARREN_TEST_BOOTSTRAP": "kafka:9092"}
    chosen = choose_provider("WARREN_TEST_BOOTSTRAP", environ, _must_not_be_asked)
    assert chosen is Provider.GIVEN


@pytest.mark.parametrize(
    ("reachable", "expected"), [(True, Provider.CONTAINER), (False, Provider.EMBEDDED)]
)
def test_docker_is_used_when_it_is_reachable(reachable: bool, expected: Provider) -> None:
    environ = {"WARREN_TEST_BOOTSTRAP": ""}
    assert choose_provider("WARREN_TEST_BOOTSTRAP", environ, lambda: reachable) is expected


def test_containers_can_be_refused_though_docker_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
        daemon.bind(str(tmp_path / "docker.sock"))
        daemon.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
        assert docker_is_reachable()
        monkeypatch.setenv("WARREN_TEST_CONTAINERS", "0")
        assert not docker_is_reachable()


def test_broker_properties_become_the_variables_of_the_official_image() -> None:
    assert environment_name("log.dirs") == "KAFKA_LOG_DIRS"
    assert environment_name("a-b_c.d") == "KAFKA_A___B__C_D"


def test_containers_are_where_their_daemon_is() -> None:
    assert docker_hostname({"DOCKER_HOST": "tcp://builder:2375"}) == "builder"
    assert docker_hostname({"DOCKER_HOST": "unix:///run/docker.sock"}) == "127.0.0.1"
    assert docker_hostname({}) == "127.0.0.1"


def test_a_broker_in_a_container_tells_clients_the_address_outside() -> None:
    properties = container_properties("builder:25000")
    assert "PLAINTEXT://builder:25000" in properties["advertised.listeners"]
    assert "PLAINTEXT://0.0.0.0:9092" in properties["listeners"]
    assert "BROKER:PLAINTEXT" in properties["listener.security.protocol.map"]
