"""Errors of `/api/v1`: problems, always; and the list of their kinds, to which `type` links."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.types import Scope
from warren.errors import KafkaError, MaybePublished

from warren_api.http.errors import Refused
from warren_api.http.names import decoded_path
from warren_api.http.problem import (
    InvalidValue,
    NotDone,
    ProblemKind,
    ProblemType,
    ProblemTypes,
    documented,
    plain_problem,
    problem,
)
from warren_api.v1.lists import InvalidCursor, routes_of

PREFIX = "/api/"


def install(app: FastAPI) -> None:
    @app.exception_handler(NotDone)
    async def not_done(_: Request, refused: NotDone) -> Response:
        return refused.answer

    @app.exception_handler(KafkaError)
    async def not_written(_: Request, error: KafkaError) -> Response:
        if isinstance(error, MaybePublished):  # whoever asks again at once may get it twice
            return problem(ProblemKind.MAYBE_WRITTEN, str(error))
        return problem(ProblemKind.NOT_WRITTEN, str(error), {"Retry-After": "5"})

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
    requested = f"{request.method} {decoded_path(request.scope)}"
    detail = f"No such endpoint: {requested}. /docs lists those there are."
    if status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"No such endpoint: {requested}. There is one for {' and '.join(methods)}."
    return plain_problem(status_code, detail, headers)


def invalid(_: Request, refused: Sequence[Refused]) -> Response:
    errors = [InvalidValue(place=one.place, name=one.name, detail=one.said) for one in refused]
    return problem(ProblemKind.INVALID_REQUEST, "; ".join(map(str, refused)), errors=errors)


def failed(_: Request) -> Response:
    return plain_problem(500, "The cause is in the API's log.")


def router() -> APIRouter:
    routes = routes_of("problems")

    @routes.get("/problems")
    async def problems() -> ProblemTypes:
        """All kinds of problems that this API answers with."""
        return ProblemTypes(problems=[ProblemType.of(kind) for kind in ProblemKind])

    @routes.get(
        "/problems/{slug}",
        responses=documented(ProblemKind.PROBLEM_NOT_FOUND),
    )
    async def one_problem(slug: str) -> ProblemType:
        """One kind of problem."""
        for kind in ProblemKind:
            if kind.slug == slug:
                return ProblemType.of(kind)
        detail = f"There is no kind of problem called {slug}."
        raise NotDone(ProblemKind.PROBLEM_NOT_FOUND, detail)

    return routes
