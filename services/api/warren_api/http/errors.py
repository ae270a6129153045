"""What a client gets when no route answers, or one fails: said by the interface of its path."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from http import HTTPStatus
from posixpath import normpath
from typing import Any, NamedTuple, Protocol, Self

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import Scope
from warren.refused_words import words_of

from warren_api.http.names import decoded_path
from warren_api.http.problem import ProblemKind

log = structlog.get_logger(__name__)

_METHODS = ("GET", "POST", "PUT", "DELETE")


class Refused(NamedTuple):
    """A value that a route does not take. `place`: `query`, `path` or `body`; `name`: of the
    parameter, in a body the way to it; `said`: what would be taken.
    """

    place: str
    name: str
    value: str
    said: str

    @classmethod
    def of(cls, error: Mapping[str, Any]) -> Self:
        place, *way = error["loc"]
        value = str(error.get("input", ""))
        return cls(str(place), ".".join(map(str, way)), value, words_of(error))

    def __str__(self) -> str:
        where = f"{self.place}.{self.name}" if self.name else self.place
        return f"{where}: {self.said}"


Refusal = Callable[..., Response]
"""Answers a request that reaches no route, in the shape that clients of its path expect; is given
scope, kind of problem, detail and, where there are some, headers.
"""


class ErrorAnswers(Protocol):
    """How an interface says what is wrong."""

    @property
    def refusal(self) -> Refusal: ...

    def unanswered(
        self,
        request: Request,
        status_code: int,
        headers: Mapping[str, str] | None,
        methods: Sequence[str],
        /,
    ) -> Response:
        """No such route (404), or not with this method (405): `methods` are those it knows."""

    def invalid(self, request: Request, refused: Sequence[Refused], /) -> Response:
        """The route does not take these values."""

    def failed(self, request: Request, /) -> Response:
        """A route has failed; the log says why."""


class Errors:
    """The error answers of all interfaces, by the prefix of their paths."""

    def __init__(self, by_prefix: Mapping[str, ErrorAnswers], elsewhere: ErrorAnswers) -> None:
        self._by_prefix = by_prefix
        self._elsewhere = elsewhere

    def _answers(self, scope: Scope) -> ErrorAnswers:
        path: str = scope["path"]
        found = (own for prefix, own in self._by_prefix.items() if path.startswith(prefix))
        return next(found, self._elsewhere)

    def refusal(
        self,
        scope: Scope,
        kind: ProblemKind,
        detail: str,
        headers: Mapping[str, str] | None = None,
        /,
    ) -> Response:
        return self._answers(scope).refusal(scope, kind, detail, headers)

    def install(self, app: FastAPI) -> None:
        @app.exception_handler(HTTPException)
        async def unanswered(request: Request, refused: HTTPException) -> Response:
            """No such route (404) or not with this method (405)."""
            status_code = refused.status_code
            if status_code == 404 and (elsewhere := _cleaned(app, request)):
                # With a body, as RFC 9110 asks for it, and as Go's http.Redirect has it.
                moved = RedirectResponse(elsewhere, HTTPStatus.MOVED_PERMANENTLY)
                headers = {"Location": moved.headers["location"]}
                link = escape(headers["Location"], quote=True)
                body = f'<a href="{link}">Moved Permanently</a>.\n\n'
                return HTMLResponse(body, HTTPStatus.MOVED_PERMANENTLY, headers)
            methods = [
                method
                for method in _METHODS
                if status_code == 405 and _is_answered(app, {**request.scope, "method": method})
            ]
            answers = self._answers(request.scope)
            return answers.unanswered(request, status_code, refused.headers, methods)

        @app.exception_handler(RequestValidationError)
        async def invalid(request: Request, error: RequestValidationError) -> Response:
            refused = [Refused.of(each) for each in error.errors()]
            return self._answers(request.scope).invalid(request, refused)

        @app.exception_handler(ClientDisconnect)
        async def gone(_: Request, __: ClientDisconnect) -> Response:
            """In the middle of its body: nobody takes the answer, it is only counted."""
            return Response(status_code=HTTPStatus.BAD_REQUEST)

        @app.exception_handler(Exception)
        async def failed(request: Request, failure: Exception) -> Response:
            log.error("request failed", path=decoded_path(request.scope), exc_info=failure)
            return self._answers(request.scope).failed(request)


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
