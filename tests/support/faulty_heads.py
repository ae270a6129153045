"""Requests whose heads leave open where they end, and a client that sends them as they are."""

from __future__ import annotations

import re
import socket

SECONDS = 60.0  # a test that waits longer fails
SECOND = b"GET /second HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""Stands where a proxy may see the body of the first."""
_HOST = b"Host: localhost\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_LENGTH = b"Content-Length: 5\r\n"

FAULTY_FIELDS = {
    "length and chunked": _LENGTH + _CHUNKED,
    "chunked and length": _CHUNKED + _LENGTH,
    "two lengths": _LENGTH + b"Content-Length: 6\r\n",
    "the same length twice": _LENGTH + _LENGTH,
    "a list of lengths": b"Content-Length: 5, 5\r\n",
    "a negative length": b"Content-Length: -5\r\n",
    "a length with a plus": b"Content-Length: +5\r\n",
    "a length in hex": b"Content-Length: 0x5\r\n",
    "no length": b"Content-Length:\r\n",
    "a length that no machine has": b"Content-Length: " + b"9" * 30 + b"\r\n",
    "identity": b"Transfer-Encoding: identity\r\n",
    "chunked twice": b"Transfer-Encoding: chunked, chunked\r\n",
    "chunked in two lines": _CHUNKED + _CHUNKED,
    "another coding": b"Transfer-Encoding: gzip, chunked\r\n",
    "chunked with a tab": b"Transfer-Encoding: \x0bchunked\r\n",
    "a blank before the colon": b"Content-Length : 5\r\n",
    "a line that goes on": b"X-Long: a\r\n b\r\n",
    "a length that is hidden in a line that goes on": b"X-Long: a\r\n\tContent-Length: 5\r\n",
    "LF alone": b"X-Short: a\n" + _LENGTH,
    "CR alone": b"X-Short: a\r" + _LENGTH,
    "a null byte in a value": b"X-Null: a\x00b\r\n",
    "a null byte in a name": b"X-\x00Null: a\r\n",
    "a name without a colon": b"Content-Length\r\n",
    "no name": b": 5\r\n",
}


def faulty_requests(path: bytes, method: bytes = b"POST") -> dict[str, bytes]:
    """By what is wrong with them; behind each stands a second request."""
    line = method + b" " + path + b" HTTP/1.1\r\n"
    found = {
        name: line + _HOST + fields + b"\r\n" + b"0\r\n\r\n" + SECOND
        for name, fields in FAULTY_FIELDS.items()
    }
    return found | {
        "chunked in HTTP/1.0": line.replace(b"1.1", b"1.0") + _CHUNKED + b"\r\n0\r\n\r\n" + SECOND,
        "LF alone behind the request": line.replace(b"\r", b"") + _HOST + b"\r\n" + SECOND,
        "LF alone at the end": line + _HOST + b"\n" + SECOND,
        "nothing but LF": (line + _HOST + b"\r\n").replace(b"\r", b"") + SECOND,
    }


def answers(address: tuple[str, int], sent: bytes) -> bytes:
    """All that comes until the connection is closed."""
    with socket.create_connection(address, SECONDS) as connection:
        connection.sendall(sent)
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
        except ConnectionResetError:
            pass  # closed with something that nobody has read
        return received


def is_refused_once(answer: bytes) -> bool:
    """400, and nothing for what came behind it."""
    return statuses(answer) == ["400"]


def statuses(answer: bytes) -> list[str]:
    """Of all answers."""
    return [found.decode() for found in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]
