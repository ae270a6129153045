"""Embedded servers, where tests have theirs from, and ports."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient
from support.servers import (
    Provider,
    choose_provider,
    container_properties,
    docker_hostname,
    docker_is_reachable,
    embedded_kafka,
    embedded_valkey,
    embedded_zookeeper,
    environment_name,
)
from warren_local.errors import PortTaken
from warren_local.kafka import answers, new_cluster_id
from warren_local.ports import HOST, Port, accepts_connections, free_port, is_free

pytestmark = pytest.mark.heavy


def _round_trip(bootstrap: str, topic: str) -> bytes | None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, b"hello")
    assert producer.flush(30) == 0
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    message = consumer.consume(1, timeout=30)[0]
    consumer.commit(message, asynchronous=False)
    consumer.close()
    return message.value()


@pytest.mark.smoke
@pytest.mark.kafka
def test_embedded_kafka_serves_and_keeps_its_data_over_a_restart(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    with embedded_kafka(pytestconfig.rootpath, tmp_path) as kafka:
        assert _round_trip(kafka.bootstrap, "one") == b"hello"
        kafka.stop()
        assert not accepts_connections(kafka.options.port)
        kafka.start()
        assert answers(kafka.bootstrap)
        assert (
            "one"
            in AdminClient({"bootstrap.servers": kafka.bootstrap}).list_topics(timeout=10).topics
        )
    log = (tmp_path / "kafka.log").read_text()
    assert "Kafka Server started" in log


@pytest.mark.smoke
@pytest.mark.servers
def test_embedded_valkey_serves_and_stops(tmp_path: Path) -> None:
    with embedded_valkey(tmp_path) as url:
        client = redis.Redis.from_url(url)
        client.set("key", "value")
        assert client.get("key") == b"value"
        client.close()
        port = int(url.split(":")[2].split("/")[0])
        assert accepts_connections(port)
    assert not accepts_connections(port)


@pytest.mark.smoke
@pytest.mark.servers
def test_embedded_zookeeper_serves_and_stops(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    with embedded_zookeeper(pytestconfig.rootpath, tmp_path) as zookeeper:
        client = KazooClient(zookeeper.hosts)
        client.start(30)
        client.create("/one", b"hello")
        assert client.get("/one")[0] == b"hello"
        client.stop()
        client.close()
    assert not accepts_connections(zookeeper.port)


def test_the_shared_servers_answer(broker, redis_url: str, unique: str) -> None:  # type: ignore[no-untyped-def]
    assert _round_trip(broker.bootstrap, unique) == b"hello"
    client = redis.Redis.from_url(redis_url)
    assert client.ping()
    client.close()


def test_a_cluster_id_is_never_taken_for_an_option() -> None:
    ids = {new_cluster_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert {len(one) for one in ids} == {22}
    assert not [one for one in ids if one.startswith("-")]


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


@pytest.fixture(params=[HOST, "0.0.0.0"])
def taken(request: pytest.FixtureRequest) -> Iterator[int]:
    with socket.create_server((request.param, 0)) as listener:
        yield listener.getsockname()[1]


def test_a_free_port_can_be_listened_on() -> None:
    port = free_port()
    assert is_free(port)
    assert not accepts_connections(port)
    with socket.create_server((HOST, port)):
        assert not is_free(port)
        assert accepts_connections(port)


def test_a_port_is_free_again_right_after_its_server_has_gone() -> None:
    port = free_port()
    with socket.create_server((HOST, port)) as server:
        client = socket.create_connection((HOST, port))
        accepted, _ = server.accept()
        accepted.close()  # closed by the server first: it stays in TIME_WAIT on this port
        client.close()
    assert is_free(port)


def test_a_taken_port_is_refused_with_the_way_out(taken: int) -> None:
    port = Port(taken, "the API", "--api-port", "WARREN_API__PORT")
    with pytest.raises(PortTaken) as refused:
        port.require_free()
    for part in (str(taken), "the API", "--api-port", "WARREN_API__PORT"):
        assert part in str(refused.value)
