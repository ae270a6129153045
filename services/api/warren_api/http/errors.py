"""What a client gets when no route answers, or one fails."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from posixpath import normpath

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from warren_api.burrow.answers import UNKNOWN_URL, error_response, go_text_error
from warren_api.http.problem import ProblemKind, plain_problem, problem
from warren_api.http.raw_path import decoded_path
from warren_api.v1.paging import InvalidCursor

log = structlog.get_logger(__name__)

_METHODS = ("GET", "POST", "PUT", "DELETE")


def install(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def unanswered(request: Request, refusal: HTTPException) -> Response:
        """No such route (404) or not with this method (405)."""
        if refusal.status_code == 404 and (elsewhere := _cleaned(app, request)):
            return RedirectResponse(elsewhere, HTTPStatus.MOVED_PERMANENTLY)
        title = HTTPStatus(refusal.status_code).phrase
        if _is_ours(request):
            detail = f"{request.method} {decoded_path(request.scope)} is nothing that Warren does."
            return plain_problem(refusal.status_code, detail, refusal.headers)
        if refusal.status_code == 405:
            return _as_burrow_refuses(app, request)
        body = UNKNOWN_URL if refusal.status_code == 404 else f"{title}\n"
        return go_text_error(body, refusal.status_code, refusal.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, refusal: RequestValidationError) -> Response:
        first = refusal.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        return problem(ProblemKind.INVALID_REQUEST, f"{where}: {said}")

    @app.exception_handler(InvalidCursor)
    async def unknown_cursor(_: Request, __: InvalidCursor) -> Response:
        return problem(ProblemKind.INVALID_CURSOR, "The cursor is none that this list has given.")

    @app.exception_handler(Exception)
    async def failed(request: Request, failure: Exception) -> Response:
        path = decoded_path(request.scope)
        log.error("request failed", path=path, exc_info=failure)
        if _is_ours(request):
            return plain_problem(500, "The cause is in the API's log.")
        return error_response(request, 500, "internal error")


def refusal(
    scope: Scope, kind: ProblemKind, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Of a request that reaches no route, in the shape that clients of its path expect."""
    path: str = scope["path"]
    status, title, _ = kind.value
    if path.startswith("/api/"):
        return problem(kind, detail, headers)
    if path.startswith("/v3/"):
        answer = error_response(Request(scope), status, detail)
        answer.headers.update(headers or {})
        return answer
    return PlainTextResponse(f"{title}. {detail}\n", status, headers)


def _is_ours(request: Request) -> bool:
    path: str = request.scope["path"]
    return path.startswith("/api/")


def _as_burrow_refuses(app: FastAPI, request: Request) -> Response:
    """Names every method that the path knows; for OPTIONS that is the answer."""
    known = [
        method for method in _METHODS if _is_answered(app, {**request.scope, "method": method})
    ]
    headers = {"Allow": ", ".join(sorted({*known, "OPTIONS"}))}
    if request.method == "OPTIONS":
        return Response(status_code=HTTPStatus.OK, headers=headers)
    return go_text_error("Method Not Allowed\n", HTTPStatus.METHOD_NOT_ALLOWED, headers)


def _cleaned(app: FastAPI, request: Request) -> str | None:
    """Burrow's router sends `//v3/kafka/` to `/v3/kafka`; None when nothing is there either."""
    path: str = request.scope["path"]
    cleaned = normpath("/" + path.lstrip("/"))  # never begins with two: that would be a host
    if cleaned in (path, "/") or request.method != "GET":
        return None
    if not _is_answered(app, {**request.scope, "path": cleaned}):
        return None
    return cleaned + (f"?{request.url.query}" if request.url.query else "")


def _is_answered(app: FastAPI, scope: Scope) -> bool:
    return any(route.matches(scope)[0] is Match.FULL for route in app.router.routes)
