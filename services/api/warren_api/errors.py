"""What a client gets when no route answers, or one fails."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from warren_api.burrow_shapes import error as burrow_error
from warren_api.problem import ProblemKind, plain_problem, problem
from warren_api.raw_path import decoded_path
from warren_api.routes.burrow_v3 import UNKNOWN_URL, go_text_error, json_response

log = structlog.get_logger(__name__)


def install(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def unanswered(request: Request, refusal: HTTPException) -> Response:
        """No such route (404) or not with this method (405)."""
        if refusal.status_code == 404 and (elsewhere := _without_trailing_slash(app, request)):
            return RedirectResponse(elsewhere, HTTPStatus.MOVED_PERMANENTLY)
        title = HTTPStatus(refusal.status_code).phrase
        if _is_ours(request):
            detail = f"{request.method} {decoded_path(request.scope)} is nothing that Warren does."
            return plain_problem(refusal.status_code, detail, refusal.headers)
        body = UNKNOWN_URL if refusal.status_code == 404 else f"{title}\n"
        return go_text_error(body, refusal.status_code, refusal.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, refusal: RequestValidationError) -> Response:
        first = refusal.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        return problem(ProblemKind.INVALID_REQUEST, f"{where}: {said}")

    @app.exception_handler(Exception)
    async def failed(request: Request, failure: Exception) -> Response:
        path = decoded_path(request.scope)
        log.error("request failed", path=path, exc_info=failure)
        if _is_ours(request):
            return plain_problem(500, "The cause is in the API's log.")
        return json_response(burrow_error("internal error", path), 500)


def refusal(
    scope: Scope, kind: ProblemKind, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Of a request that reaches no route, in the shape that clients of its path expect."""
    path: str = scope["path"]
    status, title, _ = kind.value
    if path.startswith("/api/"):
        return problem(kind, detail, headers)
    if path.startswith("/v3/"):
        answer = json_response(burrow_error(detail, decoded_path(scope)), status)
        answer.headers.update(headers or {})
        return answer
    return PlainTextResponse(f"{title}. {detail}\n", status, headers)


def _is_ours(request: Request) -> bool:
    path: str = request.scope["path"]
    return path.startswith("/api/")


def _without_trailing_slash(app: FastAPI, request: Request) -> str | None:
    """Burrow's router sends `/v3/kafka/` to `/v3/kafka`; None when nothing is there either."""
    path: str = request.scope["path"]
    stripped = path.rstrip("/")
    if stripped == path or not stripped:
        return None
    there = {**request.scope, "path": stripped}
    matches: list[Match] = [route.matches(there)[0] for route in app.router.routes]
    if Match.FULL not in matches:
        return None
    return stripped + (f"?{request.url.query}" if request.url.query else "")
