from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from warren_local.errors import PortTaken
from warren_local.ports import HOST, Port, accepts_connections, free_port, is_free


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
