"""Clients that send half a request, or take nothing: others are answered all the same."""

from __future__ import annotations

import resource
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx
import pytest
from api.api_process import NOBODY, Service, Start
from support.waiting import eventually
from warren_api.http.serving import AT_ONCE, BODY_SECONDS, HEAD_SECONDS, WRITE_SECONDS

HALF = b"GET /burrow/admin HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
MANY = 2000
USUAL_FILES = 1024  # what a process gets on most systems


@contextmanager
def files(soft: int) -> Iterator[None]:
    """The file descriptors that this process, and those it starts, may have."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < soft:
        raise OSError(f"this test opens {soft} files, {hard} are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


def connect(service: Service) -> socket.socket:
    where = httpx.URL(service.address())
    return socket.create_connection((where.host, where.port or 80), 30)


def test_half_sent_requests_stop_nobody(start: Start) -> None:
    with files(USUAL_FILES):
        service = start(NOBODY)
        assert service.get("/burrow/admin").text == "GOOD"
    size = service.log.stat().st_size
    with files(MANY + USUAL_FILES), ExitStack() as closing:
        for number in range(MANY):
            slow = closing.enter_context(connect(service))
            slow.sendall(HALF)
            if number % 200 == 0:
                assert service.get("/burrow/admin").text == "GOOD"

        def is_answered_before() -> bool:
            """Whoever waited for the newest of the slow ones would find it closed."""
            newest = closing.enter_context(connect(service))
            newest.sendall(HALF)
            assert service.get("/burrow/admin").text == "GOOD"
            newest.setblocking(False)
            try:
                newest.recv(1)
            except BlockingIOError:
                return True
            except ConnectionResetError:
                pass
            return False

        eventually(is_answered_before, message="nobody waits for the slow ones")
    counted = service.get("/metrics").text
    assert 'warren_api_connections_closed_total{reason="crowded_out"}' in counted
    written = service.log.read_text()[size:]
    assert written.count("connections closed") <= 2
    assert len(written) < 20_000, "who is slow cannot fill the log"


def test_who_takes_no_answer_gives_way(start: Start) -> None:
    """Each asks for far more than any buffer holds, and reads nothing."""
    service = start(NOBODY, WARREN_API__CONNECTIONS="20")
    assert service.get("/burrow/admin").text == "GOOD"
    asked = b"GET /static/warren.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4000
    with ExitStack() as closing:
        for _ in range(30):
            greedy = closing.enter_context(connect(service))
            greedy.setblocking(False)
            with suppress(BlockingIOError, ConnectionResetError):
                greedy.send(asked)

        def is_answered() -> bool:
            """Not while each of the greedy ones is still being answered, as far as it takes it."""
            with suppress(httpx.TransportError):
                return service.get("/burrow/admin").text == "GOOD"
            return False

        sooner = WRITE_SECONDS - 5  # than each would be closed anyway
        eventually(is_answered, timeout=sooner, message="one of the greedy ones gives way")
        for _ in range(30):
            assert service.get("/burrow/admin").text == "GOOD"


def test_who_comes_while_the_loop_is_busy_is_let_wait_and_not_sent_away(start: Start) -> None:
    """Whoever the system has no room for comes again a second later at the earliest."""
    service = start(NOBODY)
    service.address()
    assert service.get("/burrow/admin").text == "GOOD"  # it accepts already
    with files(MANY + USUAL_FILES), ExitStack() as closing:
        service.process.send_signal(signal.SIGSTOP)
        try:
            clients = [closing.enter_context(connect(service)) for _ in range(4 * AT_ONCE)]
        finally:
            service.process.send_signal(signal.SIGCONT)
        clients[-1].sendall(b"GET /burrow/admin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert clients[-1].recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        (b"", HEAD_SECONDS),
        (HALF, HEAD_SECONDS),
        (
            b"POST /v3/admin/loglevel HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
            BODY_SECONDS,
        ),
    ],
)
def test_each_step_of_a_request_has_its_time(start: Start, sent: bytes, seconds: float) -> None:
    service = start(NOBODY)
    with connect(service) as slow:
        slow.settimeout(seconds + 30)
        slow.sendall(sent)
        with suppress(ConnectionResetError):
            while slow.recv(4096):
                pass


def test_a_connection_that_is_kept_serves_again_and_is_closed_when_it_stays_idle(
    start: Start,
) -> None:
    service = start(NOBODY)
    with connect(service) as kept:
        for _ in range(3):
            kept.sendall(b"GET /burrow/admin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b"GOOD"):
                answer += kept.recv(4096)
        kept.settimeout(60)
        assert kept.recv(4096) == b""


def test_what_is_no_request_is_counted_and_not_logged(start: Start) -> None:
    service = start(NOBODY)
    for _ in range(20):
        with connect(service) as wrong:
            wrong.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
            assert b"400" in wrong.recv(4096)
    name = 'warren_api_connections_closed_total{reason="malformed"} 20.0'
    eventually(lambda: name in service.get("/metrics").text, message="they are counted")
    assert service.log.read_text().count("connections closed") == 1
    assert "Invalid HTTP request" not in service.log.read_text()


CHUNKED = (
    b"POST /v3/admin/loglevel HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@pytest.mark.parametrize(
    "parts",
    [(CHUNKED + b"ZZ\r\n",), (CHUNKED, b"ZZ\r\n"), (CHUNKED + b"2\r\n{", b"}??ZZ\r\n")],
    ids=["at once", "after the head", "after a part of the body"],
)
def test_a_body_that_is_malformed_is_counted_and_leaves_no_traceback(
    start: Start, parts: tuple[bytes, ...]
) -> None:
    service = start(NOBODY)
    for _ in range(20):
        with connect(service) as wrong:
            wrong.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            answer = b""
            for part in parts:
                wrong.sendall(part)
                # An answer in between tells that the service has the part before.
                assert service.get("/burrow/admin").text == "GOOD"
            while received := wrong.recv(4096):
                answer += received
            assert answer.split()[1] in (b"400", b"413")  # 413: answered before it came
            assert answer.count(b"HTTP/1.1") == 1
    name = 'warren_api_connections_closed_total{reason="malformed"} 20.0'
    eventually(lambda: name in service.get("/metrics").text, message="they are counted")
    written = service.log.read_text()
    assert written.count("connections closed") == 1
    assert "Traceback" not in written
    assert "LocalProtocolError" not in written


def test_a_client_that_goes_in_the_middle_of_a_body_leaves_no_traceback(start: Start) -> None:
    service = start(NOBODY)
    with connect(service) as gone:
        gone.sendall(
            b"POST /v3/admin/loglevel HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
        )
    eventually(
        lambda: 'code="400",method="POST"' in service.get("/metrics").text,
        message="the request is counted",
    )
    assert "Traceback" not in service.log.read_text()
