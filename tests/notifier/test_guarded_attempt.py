"""Threads of a library that connects by itself: what they reach, and what all others still do."""

import contextlib
import smtplib
import socket
import subprocess
import threading
from collections.abc import Callable
from ipaddress import ip_network

import pytest
import requests
from notifier.http_receiver import Answer, HttpReceiver
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.kinds.apprise import GuardedAttempt

CLOSED, OPEN = EgressGuard([]), EgressGuard([ip_network("127.0.0.0/8"), ip_network("::1")])


def guarded(do: Callable[[], object], guard: EgressGuard = CLOSED) -> tuple[str, list[Exception]]:
    """Why it would never work, and what `do` raised."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            do()
        except Exception as error:  # noqa: BLE001  # each library has its own
            raised.append(error)

    attempt = GuardedAttempt(guard)
    thread = attempt.thread(run, "guarded")
    thread.start()
    thread.join()
    return attempt.refused, raised


def datagram(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", address)


def connected(family: socket.AddressFamily, address: object) -> int:
    with socket.socket(family) as one:
        return one.connect_ex(address)  # type: ignore[arg-type]  # each family has its own


def test_connections_are_refused_below_every_library() -> None:
    with HttpReceiver() as receiver:
        port = receiver.port
        tried: list[Callable[[], object]] = [
            lambda: requests.post(receiver.url, timeout=5),
            lambda: smtplib.SMTP("localhost", port, timeout=5),
            lambda: socket.create_connection(("localhost", port)),
            lambda: connected(socket.AF_INET, ("127.0.0.1", port)),
        ]
        for do in tried:
            refused, raised = guarded(do)
            assert "is not public and not in notifier.allow_networks" in refused
            assert raised
        assert not receiver.requests


@pytest.mark.parametrize(
    "do",
    [
        lambda: datagram(("127.0.0.1", 9)),
        lambda: datagram(("localhost", 9)),
        lambda: subprocess.run(["true"], check=True),
        lambda: connected(socket.AF_UNIX, "/no/such"),
    ],
)
def test_what_goes_out_in_other_ways(do: Callable[[], object]) -> None:
    refused, (error,) = guarded(do)
    assert isinstance(error, PermissionError)
    assert refused == str(error)


def test_threads_that_a_guarded_one_starts_are_guarded() -> None:
    with HttpReceiver() as receiver:

        def ask() -> None:
            with contextlib.suppress(requests.ConnectionError):
                requests.post(receiver.url, timeout=5)

        def in_another() -> None:
            inner = threading.Thread(target=ask)
            inner.start()
            inner.join()

        refused, raised = guarded(in_another)
    assert "127.0.0.1 is not public" in refused
    assert not raised
    assert not receiver.requests


def test_other_threads_go_where_they_like() -> None:
    guarded(lambda: None)
    with HttpReceiver() as elsewhere:
        redirect = Answer(307, {"Location": elsewhere.url})
        with HttpReceiver(redirect) as receiver:
            assert requests.get(receiver.url, timeout=5).status_code == 200
    assert len(elsewhere.requests) == 1


def test_an_address_that_may_be_reached_and_does_not_answer_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As one of two addresses of a name: the other one is refused."""
    with HttpReceiver() as receiver:
        port = receiver.port
    stream = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    found = [(*stream, (address, port)) for address in ("10.0.0.1", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    refused, (error,) = guarded(lambda: socket.create_connection(("two.example", port)), OPEN)
    assert isinstance(error, ConnectionRefusedError)
    assert not refused


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpReceiver() as proxy, HttpReceiver() as receiver:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        guarded(lambda: requests.post(receiver.url, timeout=5), OPEN)
    assert (len(proxy.requests), len(receiver.requests)) == (0, 1)
