"""The side door of a service."""

from __future__ import annotations

import socket

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter
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
            ready = "judging: 3 events waiting, none done for 1 m"
            assert client.get("/ready").status_code == 503
            assert client.get("/ready").text == ready
            ready = True
            assert client.get("/ready").text == "READY"
            assert client.get("/else").status_code == 404
    finally:
        stop()


def test_not_ready_says_why() -> None:
    port = free_port()
    stop = serve(port, CollectorRegistry(), lambda: "cluster eu: rebuilding", host="127.0.0.1")
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/ready")
        assert (answer.status_code, answer.text) == (503, "cluster eu: rebuilding")
    finally:
        stop()


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
