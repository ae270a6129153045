"""Errors as Burrow's server answers them, and so for every path that no other interface has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse
from starlette.types import Scope

from warren_api.burrow.answers import TEXT, error_response
from warren_api.http.errors import Refused
from warren_api.http.problem import ProblemKind, problem

PREFIX = "/v3/"
UNKNOWN_URL = '{"error":true,"message":"invalid request type","result":{}}\n'


def refusal(
    scope: Scope, kind: ProblemKind, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """As plain text where Burrow has no JSON: health checks, metrics, pages."""
    path: str = scope["path"]
    status, title, _ = kind.value
    if not path.startswith(PREFIX):
        return PlainTextResponse(f"{title}. {detail}\n", status, headers)
    answer = error_response(Request(scope), status, detail)
    answer.headers.update(headers or {})
    return answer


def unanswered(
    request: Request,
    status_code: int,
    headers: Mapping[str, str] | None,
    methods: Sequence[str],
) -> Response:
    """405 names every method that the path knows; for OPTIONS that is the answer."""
    if status_code == 405:
        allowed = {"Allow": ", ".join(sorted({*methods, "OPTIONS"}))}
        if request.method == "OPTIONS":
            return Response(status_code=HTTPStatus.OK, headers=allowed)
        return _text_error("Method Not Allowed\n", status_code, allowed)
    phrase = HTTPStatus(status_code).phrase
    body = UNKNOWN_URL if status_code == 404 else f"{phrase}\n"
    return _text_error(body, status_code, headers)


def invalid(_: Request, refused: Sequence[Refused]) -> Response:
    return problem(ProblemKind.INVALID_REQUEST, str(refused[0]))


def failed(request: Request) -> Response:
    return error_response(request, 500, "internal error")


def _text_error(text: str, status_code: int, headers: Mapping[str, str] | None) -> Response:
    """What Go's http.Error sends."""
    return Response(text, status_code, headers, media_type=TEXT)
