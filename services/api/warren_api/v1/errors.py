"""Errors of `/api/v1`: problems, always."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from starlette.types import Scope

from warren_api.http.errors import Refused
from warren_api.http.problem import ProblemKind, plain_problem, problem
from warren_api.http.raw_path import decoded_path
from warren_api.v1.paging import InvalidCursor

PREFIX = "/api/"


def install(app: FastAPI) -> None:
    @app.exception_handler(InvalidCursor)
    async def unknown_cursor(_: Request, __: InvalidCursor) -> Response:
        return problem(ProblemKind.INVALID_CURSOR, "The cursor is none that this list has given.")


def refusal(
    _: Scope, kind: ProblemKind, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    return problem(kind, detail, headers)


def unanswered(
    request: Request, status_code: int, headers: Mapping[str, str] | None, methods: Sequence[str]
) -> Response:
    """What answers GET answers HEAD."""
    if status_code == HTTPStatus.BAD_REQUEST:  # FastAPI's, of a body that is none
        return problem(
            ProblemKind.INVALID_REQUEST, "The body is no JSON that can be read.", headers
        )
    if status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        heads = ("HEAD",) if "GET" in methods else ()
        headers = {"Allow": ", ".join(sorted({*methods, *heads}))}
    detail = f"{request.method} {decoded_path(request.scope)} is nothing that Warren does."
    return plain_problem(status_code, detail, headers)


def invalid(_: Request, refused: Sequence[Refused]) -> Response:
    return problem(ProblemKind.INVALID_REQUEST, str(refused[0]))


def failed(_: Request) -> Response:
    return plain_problem(500, "The cause is in the API's log.")
