"""Embedded servers, where tests have theirs from, and ports."""

import socket
from pathlib import Path

import pytest
import redis
from support.servers import (
    embedded_valkey,
)
from warren_local import server
from warren_local.kafka import new_cluster_id
from warren_local.server import (
    HOST,
    Child,
    ServerFailed,
    accepts_connections,
    await_ready,
    free_port,
    is_free,
)


def test_a_start_is_waited_for_as_long_as_its_log_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SILENCE", 1.0)
    monkeypatch.setattr(server, "LATE", 0.5)
    said: list[str] = []
    talks = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.3; done; exec sleep 600"
    child = Child(["sh", "-c", talks], log=tmp_path / "log")
    try:
        assert await_ready("It", child, lambda: "8" in child.log.read_text(), say=said.append)
        with pytest.raises(ServerFailed, match="wrote a line for 1s"):
            await_ready("It", child, lambda: False)
    finally:
        child.kill()
    assert said == [f"waiting for It to answer, as long as its log grows: {child.log}"]


@pytest.mark.heavy
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


@pytest.mark.heavy
def test_a_cluster_id_is_never_taken_for_an_option() -> None:
    ids = {new_cluster_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert {len(one) for one in ids} == {22}
    assert not [one for one in ids if one.startswith("-")]


@pytest.mark.heavy
def test_a_free_port_can_be_listened_on() -> None:
    port = free_port()
    assert is_free(port)
    assert not accepts_connections(port)
    with socket.create_server((HOST, port)):
        assert not is_free(port)
        assert accepts_connections(port)


@pytest.mark.heavy
def test_a_port_is_free_again_right_after_its_server_has_gone() -> None:
    port = free_port()
    with socket.create_server((HOST, port)) as server:
        client = socket.create_connection((HOST, port))
        accepted, _ = server.accept()
        accepted.close()  # closed by the server first: it stays in TIME_WAIT on this port
        client.close()
    assert is_free(port)
