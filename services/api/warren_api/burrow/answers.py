"""Answers as Burrow's HTTP server gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response

from warren_api.burrow import envelope
from warren_api.burrow.go_json import go_json
from warren_api.http.raw_path import decoded_path

ADMIN = "admin"
"""Tag of routes that change something: only administrators may."""
TEXT = "text/plain; charset=utf-8"


def json_response(body: Mapping[str, Any], status_code: int = 200) -> Response:
    return Response(go_json(body), status_code, media_type="application/json")


def error_response(request: Request, status_code: int, message: str) -> Response:
    return json_response(envelope.error(message, decoded_path(request.scope)), status_code)


def answer(request: Request, message: str, **content: Any) -> Response:
    return json_response(envelope.answer(message, decoded_path(request.scope), **content))
