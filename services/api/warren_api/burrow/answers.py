"""Answers as Burrow 1.9.5 gives them, byte for byte: what all bodies have in common, lists and
errors.

Names, types, messages and key order: linkedin/Burrow, core/internal/httpserver/structs.go. JSON is
as Go's encoding/json writes it: compact, not sorted; `<`, `>`, `&`, U+2028 and U+2029 escaped;
float32 with the fewest digits that still mean the same float32.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fastapi import Request, Response

from warren_api.http.names import decoded_path

# Inside JSON these characters occur in strings only.
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def go_json(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate cannot be UTF-8; Go writes the replacement character for it.
    return text.translate(_ESCAPES).encode("utf-8", "replace")


@lru_cache(maxsize=4096)
def float32(value: float) -> float | int:
    """A number that prints as Go prints the nearest float32: 1 as `1`, 1/3 as `0.33333334`."""
    (nearest,) = struct.unpack("f", struct.pack("f", value))
    if nearest.is_integer():
        return int(nearest)
    # Nine significant digits tell any two float32 apart (IEEE 754).
    candidates = (float(f"{nearest:.{digits}g}") for digits in range(1, 10))
    return next(
        number for number in candidates if struct.pack("f", number) == struct.pack("f", nearest)
    )


Body = dict[str, Any]
ADMIN = "admin"
"""Tag of routes that change something: only administrators may."""
TEXT = "text/plain; charset=utf-8"


def json_response(body: Mapping[str, Any], status_code: int = 200) -> Response:
    return Response(go_json(body), status_code, media_type="application/json")


def error_response(request: Request, status_code: int, message: str) -> Response:
    body = {"error": True, "message": message, "request": _request(request)}
    return json_response(body, status_code)


def answer(
    request: Request, message: str, after: Mapping[str, Any] | None = None, **content: Any
) -> Response:
    """Content stands between the message and the request; `after` behind them."""
    head = {"error": False, "message": message}
    return json_response({**head, **content, "request": _request(request), **(after or {})})


def _request(request: Request) -> Body:
    """The path as the client meant it, that is decoded."""
    return {"url": decoded_path(request.scope), "host": socket.gethostname()}
