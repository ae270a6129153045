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
from collections.abc import Mapping, Sequence
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


def request_info(path: str) -> Body:
    """`path` as the client meant it, that is decoded."""
    return {"url": path, "host": socket.gethostname()}


def error_body(message: str, path: str) -> Body:
    return {"error": True, "message": message, "request": request_info(path)}


def done(message: str, path: str) -> Body:
    """Something was done and there is nothing to return."""
    return {"error": False, "message": message, "request": request_info(path)}


def answer_body(message: str, path: str, **content: Any) -> Body:
    """Content stands between the message and the request."""
    return {"error": False, "message": message, **content, "request": request_info(path)}


def module_list(coordinator: str, modules: Sequence[str], path: str) -> Body:
    return {
        "error": False,
        "message": "module list returned",
        "request": request_info(path),
        "coordinator": coordinator,
        "modules": list(modules),
    }


def module_detail(coordinator: str, module: Body, path: str) -> Body:
    return answer_body(f"{coordinator} module detail returned", path, module=module)


ADMIN = "admin"
"""Tag of routes that change something: only administrators may."""
TEXT = "text/plain; charset=utf-8"


def json_response(body: Mapping[str, Any], status_code: int = 200) -> Response:
    return Response(go_json(body), status_code, media_type="application/json")


def error_response(request: Request, status_code: int, message: str) -> Response:
    return json_response(error_body(message, decoded_path(request.scope)), status_code)


def answer(request: Request, message: str, **content: Any) -> Response:
    return json_response(answer_body(message, decoded_path(request.scope), **content))
