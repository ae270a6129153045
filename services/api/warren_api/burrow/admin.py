"""Burrow's health checks, and the log level of this process by the names that Burrow uses."""

import json
import logging

from fastapi import APIRouter, Request, Response

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


def requested(body: bytes) -> str | None:
    """The level that a JSON object names, empty when it names none; None for what is none.

    As Go reads it: the first value of the body counts, and the case of the key does not.
    """
    try:
        value, _ = json.JSONDecoder().raw_decode(body.decode().lstrip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict | None):
        return None
    levels = [v for name, v in (value or {}).items() if name.lower() == "level" and v is not None]
    level = levels[-1] if levels else ""
    return level if isinstance(level, str) else None


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

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

    @routes.get("/v3/admin/loglevel")
    async def get_log_level(request: Request) -> Response:
        level = _NAMES.get(logging.getLogger().level, "info")
        return answer(request, "log level returned", level=level)

    @routes.post("/v3/admin/loglevel", tags=[ADMIN])
    async def set_log_level(request: Request) -> Response:
        wanted = requested(await request.body())
        if wanted is None:
            return error_response(request, 400, "could not decode message body")
        if wanted.lower() not in _LEVELS:
            return error_response(request, 404, "unknown log level")
        logging.getLogger().setLevel(_LEVELS[wanted.lower()])
        return answer(request, "set log level")

    return routes
