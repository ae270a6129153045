"""Where one request ends and the next begins is never a question (RFC 9112, sections 2.2, 5, 6)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
from api.served_api import Api, served
from support.faulty_heads import SECONDS, answers, faulty_requests, is_refused_once, statuses
from warren.api_tokens import hash_of
from warren.settings import ApiSettings, ApiToken
from warren_api.http.middleware import LARGEST_BODY

Address = tuple[str, int]
OPEN = b"/burrow/admin"
SILENCES = b"/api/v1/silences"
GOOD = b"GET /burrow/admin HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = GOOD.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


def listening(api: Api) -> Iterator[Address]:
    with served(api) as where:
        url = httpx.URL(where)
        assert url.port is not None
        yield url.host, url.port


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    yield from listening(Api())


@pytest.fixture(scope="module")
def closed_address() -> Iterator[Address]:
    """Nobody may anything without a token."""
    tokens = [ApiToken(name="reader", role="read", hash=hash_of("secret"))]
    yield from listening(Api(api=ApiSettings(tokens=tokens)))


@pytest.mark.parametrize("path", [OPEN, SILENCES])
@pytest.mark.parametrize("fault", faulty_requests(b"/"))
def test_a_request_whose_end_is_a_question_is_refused_and_the_connection_closed(
    address: Address, path: bytes, fault: str
) -> None:
    answer = answers(address, faulty_requests(path)[fault])
    assert is_refused_once(answer), answer
    assert b"connection: close" in answer.lower()


def test_the_second_of_two_requests_is_read_as_strictly(address: Address) -> None:
    answer = answers(address, GOOD + faulty_requests(OPEN)["length and chunked"])
    assert statuses(answer) == ["200", "400"]


@pytest.mark.parametrize("fault", ["LF alone", "length and chunked", "a line that goes on"])
def test_a_head_that_comes_byte_by_byte_is_read_as_strictly(address: Address, fault: str) -> None:
    """The line that is wrong lies behind when the head is whole."""
    with socket.create_connection(address, SECONDS) as slow:
        slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):  # closed already
            for byte in faulty_requests(OPEN)[fault]:
                slow.sendall(bytes((byte,)))
        received = b""
        with suppress(ConnectionError):
            while part := slow.recv(65536):
                received += part
    assert statuses(received) in (["400"], []), "or closed with what nobody has read"


@pytest.mark.parametrize(
    "head",
    [
        b"POST /api/v1/silences HTTP/1.1\r\nContent-Length: %d\r\n" % (LARGEST_BODY + 1),
        b"POST /api/v1/silences HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
        b"GET /burrow/admin HTTP/1.1\r\nContent-Length: 99\r\n",
        b"POST /burrow/admin HTTP/1.1\r\nContent-Length: 99\r\n",
        b"POST /nowhere HTTP/1.1\r\nContent-Length: 99\r\n",
        b"POST /burrow/admin HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
    ],
)
def test_an_answer_before_the_body_was_read_closes_the_connection(
    address: Address, head: bytes
) -> None:
    """What stands where the body would be is never a request, and neither what comes behind it."""
    is_chunked = b"chunked" in head
    body = b"0\r\n\r\n" if is_chunked else GOOD + b" " * (99 - len(GOOD))
    if b"%d" % (LARGEST_BODY + 1) in head:
        body = b"x" * (LARGEST_BODY + 1)
    answer = answers(address, head + b"Host: localhost\r\n\r\n" + body + GOOD)
    assert len(statuses(answer)) == 1, answer
    assert b"connection: close" in answer.lower()


@pytest.mark.parametrize(
    "path", [b"/api/v1/silences", b"/v3/admin/loglevel", b"/groups/a/b/silence"]
)
def test_a_body_that_is_refused_for_who_sends_it_closes_the_connection(
    closed_address: Address, path: bytes
) -> None:
    head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
    answer = answers(closed_address, head + b"{}" + GOOD)
    assert statuses(answer) == ["401"]


def test_a_large_body_is_taken_and_thrown_away_so_that_its_refusal_arrives(
    address: Address,
) -> None:
    size = 20 * 2**20
    head = b"POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size
    assert answers(address, head + b"x" * size).startswith(b"HTTP/1.1 413")


def test_a_body_that_waits_to_be_let_in_is_not_waited_for(address: Address) -> None:
    head = b"POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    answer = answers(address, head + b"Content-Length: %d\r\n\r\n" % (LARGEST_BODY + 1))
    assert statuses(answer) == ["413"]


def test_a_body_that_was_read_keeps_the_connection(address: Address) -> None:
    body = b'{"group": "^a$", "for_seconds": 60, "why": "x"}'
    head = (
        b"POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    )
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    answer = answers(address, head + body + LAST)
    assert statuses(answer) == ["201", "200"], answer


@pytest.mark.parametrize("length", [b"", b"Content-Length: 0\r\n"])
def test_requests_without_a_body_keep_the_connection(address: Address, length: bytes) -> None:
    first = GOOD.replace(b"\r\n\r\n", b"\r\n" + length + b"\r\n")
    assert statuses(answers(address, first + LAST)) == ["200", "200"]
