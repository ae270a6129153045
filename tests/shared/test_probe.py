"""The side door of a service."""

import gc
import socket
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter
from support.waiting import eventually
from warren import garbage
from warren.errors import SettingsError
from warren.probe import serve


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def test_metrics_ready_and_live() -> None:
    registry, port = CollectorRegistry(), free_port()
    Counter("things_total", "Things.", registry=registry).inc()
    ready: bool | str = False
    stop = serve(port, registry, lambda: ready, host="127.0.0.1")
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            assert "things_total 1.0" in client.get("/metrics").text
            assert client.get("/live").text == "LIVE"
            assert client.get("/ready").status_code == 503
            assert client.get("/ready").text == "STARTING"
            ready = "judging: 3 events waiting, none done for 1m"
            assert client.get("/ready").status_code == 503
            assert client.get("/ready").text == ready
            ready = True
            assert client.get("/ready").text == "READY"
            assert client.get("/else").status_code == 404
    finally:
        stop()


HALF = b"GET /ready HTTP/1.1\r\nX-Slow: "


def test_half_sent_requests_stop_nobody() -> None:
    port = free_port()
    threads = threading.active_count()
    stop = serve(port, CollectorRegistry(), lambda: True)
    try:
        with ExitStack() as closing:
            for _ in range(100):
                slow = socket.create_connection(("127.0.0.1", port), 30)
                closing.enter_context(slow).sendall(HALF)
            assert httpx.get(f"http://127.0.0.1:{port}/ready", timeout=30).text == "READY"
            eventually(
                lambda: threading.active_count() <= threads + 2,
                message="silent clients have lost their threads",
            )
    finally:
        stop()


@pytest.mark.parametrize(
    ("host", "asked"), [("", "127.0.0.1"), ("", "[::1]"), ("::1", "[::1]"), ("127.0.0.1",) * 2]
)
def test_addresses(host: str, asked: str) -> None:
    port = free_port()
    stop = serve(port, CollectorRegistry(), lambda: True, host=host)
    try:
        assert httpx.get(f"http://{asked}:{port}/live").text == "LIVE"
        if host == "127.0.0.1":
            with pytest.raises(httpx.ConnectError):
                httpx.get(f"http://[::1]:{port}/live")
    finally:
        stop()


def test_an_address_of_no_machine_names_the_setting() -> None:
    with pytest.raises(SettingsError, match=r"probe\.host"):
        serve(free_port(), CollectorRegistry(), lambda: True, host="no.such.host.invalid")


def test_no_port_no_server() -> None:
    serve(0, CollectorRegistry(), lambda: True)()


def test_a_taken_port_names_the_setting() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(SettingsError, match=r"collector\.metrics_port"):
            serve(
                port,
                CollectorRegistry(),
                lambda: True,
                setting="collector.metrics_port",
                host="127.0.0.1",
            )


class Node:
    """Refers to itself, as what is in a cycle does."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_lives_is_not_looked_at_again_and_what_does_not_is_freed() -> None:
    living, dead = Node(), weakref.ref(Node())
    garbage.settle()
    assert dead() is None
    assert gc.get_freeze_count() > 0
    frozen = weakref.ref(living)
    del living
    gc.collect()
    assert frozen() is not None
    garbage.settle()
    assert frozen() is None


def test_collections_are_seldom() -> None:
    garbage.collect_seldom()
    assert gc.get_threshold() == (50_000, 2, 1_000)
    garbage.collect_seldom(5_000)
    assert gc.get_threshold() == (5_000, 2, 10_000)
