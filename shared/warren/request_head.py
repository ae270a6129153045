"""The head of an HTTP request, to the letter of RFC 9112.

What a proxy and a server read differently is a way to hide a second request in a first one. So
nothing is read generously: a head that leaves open where its request ends is refused, and the
connection closed.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from typing import cast

from warren.errors import WarrenError

_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\x00\r\n]*)\r")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_FRAMING = (b"content-length", b"transfer-encoding")


class FaultyHead(WarrenError):
    """A request's head is not what RFC 9112 says. Whoever sent it has to mend it."""


def require_sound(head: bytes) -> None:
    """`head`: from the request line to the empty line. Raises FaultyHead for lines that end in LF
    alone or go on in the next one (2.2, 5.2), names and values that are none (5), and more than one
    word about where the body ends (6.1).
    """
    request, *lines = head.removesuffix(b"\n").split(b"\n")
    if not request.endswith(b"\r"):
        raise FaultyHead("A line does not end in CR LF.")
    framing: dict[bytes, bytes] = {}
    for line in lines[:-1]:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise FaultyHead("A header is none, or does not end in CR LF.")
        name, value = field[1].lower(), field[2].strip(b" \t")
        if name in _FRAMING:
            if framing:
                raise FaultyHead("More than one Content-Length or Transfer-Encoding.")
            framing[name] = value
    if lines[-1:] != [b"\r"]:
        raise FaultyHead("A line does not end in CR LF.")
    if not _LENGTH.fullmatch(framing.get(b"content-length", b"0")):
        raise FaultyHead("Content-Length is no number.")
    if framing.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        raise FaultyHead("Transfer-Encoding is something else than chunked.")
    if b"transfer-encoding" in framing and request.endswith(b"HTTP/1.0\r"):
        raise FaultyHead("HTTP/1.0 knows no Transfer-Encoding.")


class SoundRequestHandler(BaseHTTPRequestHandler):
    """Answers 400 to a head that is not sound, and then closes the connection."""

    def parse_request(self) -> bool:
        kept = self.rfile
        noted = _Noted(kept)
        self.rfile = cast(BufferedIOBase, noted)
        try:
            is_whole = super().parse_request()
        finally:
            self.rfile = kept
        if not is_whole:
            return False
        request: bytes = self.raw_requestline  # type: ignore[attr-defined]  # typeshed has it not
        try:
            require_sound(request + noted.lines)
        except FaultyHead as fault:
            self.close_connection = True
            self.send_error(HTTPStatus.BAD_REQUEST, explain=str(fault))
            return False
        return True


class _Noted:
    """Keeps the lines that are read of the head."""

    def __init__(self, file: BufferedIOBase) -> None:
        self._file = file
        self.lines = b""

    def readline(self, limit: int = -1) -> bytes:
        line = self._file.readline(limit)
        self.lines += line
        return line
