"""Burrow's health checks and its log level."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from warren_api.burrow import log_level
from warren_api.burrow.answers import ADMIN, TEXT, answer, error_response
from warren_api.context import ApiContext

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
        return answer(request, "log level returned", level=log_level.current())

    @routes.post("/v3/admin/loglevel", tags=[ADMIN])
    async def set_log_level(request: Request) -> Response:
        try:
            wanted = log_level.requested(await _body(request))
            log_level.change(wanted)
        except log_level.Undecodable:
            return error_response(request, 400, "could not decode message body")
        except log_level.UnknownLevel:
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
