"""Burrow's health checks, and the log level of this process by the names that Burrow uses."""

from __future__ import annotations

import json
import logging

from fastapi import APIRouter, Request, Response
from warren.errors import WarrenError

from warren_api.burrow.answers import ADMIN, TEXT, answer, error_response
from warren_api.context import ApiContext

_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "fatal": logging.CRITICAL,
}
_NAMES = {level: name for name, level in _LEVELS.items()}  # the last name of a level


class Undecodable(WarrenError):
    """A request's body is not what it should be. Operator: send {"level": "debug"}."""


class UnknownLevel(WarrenError):
    """There is no such level. Operator: debug, info, warn, error or fatal."""


def current() -> str:
    """debug, info, warn, error or fatal."""
    return _NAMES.get(logging.getLogger().level, "info")


def change(name: str) -> None:
    """Raises UnknownLevel."""
    try:
        logging.getLogger().setLevel(_LEVELS[name.lower()])
    except KeyError:
        raise UnknownLevel(f"no log level {name!r}") from None


def requested(body: bytes) -> str:
    """The level that a JSON object names, empty when it names none. Raises Undecodable.

    As Go reads it: the first value of the body counts, and the case of the key does not.
    """
    try:
        value, _ = json.JSONDecoder().raw_decode(body.decode().lstrip())
    except (ValueError, RecursionError):
        raise Undecodable("the body is no JSON") from None
    if not isinstance(value, dict | None):
        raise Undecodable("the body is no object")
    levels = [v for name, v in (value or {}).items() if name.lower() == "level" and v is not None]
    level = levels[-1] if levels else ""
    if not isinstance(level, str):
        raise Undecodable("level is no text")
    return level


MOST_BYTES = 4096


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    _health(routes, context)
    _log_level(routes)
    return routes


def _health(routes: APIRouter, context: ApiContext) -> None:
    @routes.get("/burrow/admin")
    async def admin() -> Response:
        return Response("GOOD", media_type=TEXT)

    @routes.get("/burrow/admin/ready")
    async def ready() -> Response:
        state = context.feed_state()
        if state.standstill:
            return Response(state.standstill, 503, media_type=TEXT)
        if state.ready:
            return Response("READY", media_type=TEXT)
        waits_for = f": {state.problem}" if state.problem else ""
        return Response(f"STARTING{waits_for}", 503, media_type=TEXT)


def _log_level(routes: APIRouter) -> None:
    @routes.get("/v3/admin/loglevel")
    async def get_log_level(request: Request) -> Response:
        return answer(request, "log level returned", level=current())

    @routes.post("/v3/admin/loglevel", tags=[ADMIN])
    async def set_log_level(request: Request) -> Response:
        try:
            wanted = requested(await _body(request))
            change(wanted)
        except Undecodable:
            return error_response(request, 400, "could not decode message body")
        except UnknownLevel:
            return error_response(request, 404, "unknown log level")
        return answer(request, "set log level")


async def _body(request: Request) -> bytes:
    """The body, cut off where it is longer than any that names a level, and so no JSON then."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            break
    return body[:MOST_BYTES]
