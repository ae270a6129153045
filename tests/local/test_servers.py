"""Embedded servers, where tests have theirs from, and ports."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from support.servers import (
    embedded_valkey,
)
from warren_local.kafka import new_cluster_id
from warren_local.server import HOST, Port, StartRefused, accepts_connections, free_port, is_free

pytestmark = pytest.mark.heavy


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


def test_a_cluster_id_is_never_taken_for_an_option() -> None:
    ids = {new_cluster_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert {len(one) for one in ids} == {22}
    assert not [one for one in ids if one.startswith("-")]


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
    with pytest.raises(StartRefused) as refused:
        port.require_free()
    for part in (str(taken), "the API", "--api-port", "WARREN_API__PORT"):
        assert part in str(refused.value)
