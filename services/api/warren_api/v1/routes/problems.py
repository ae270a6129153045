"""The kinds of problems: what the `type` of an error links to."""

from __future__ import annotations

from fastapi import APIRouter, Response

from warren_api.http.problem import ProblemKind, ProblemType, ProblemTypes, plain_problem


def router() -> APIRouter:
    routes = APIRouter(tags=["problems"])

    @routes.get(
        "/problems",
        response_model=ProblemTypes,
    )
    async def problems() -> ProblemTypes:
        """All kinds of problems that this API answers with."""
        return ProblemTypes(problems=[ProblemType.of(kind) for kind in ProblemKind])

    @routes.get(
        "/problems/{slug}",
        response_model=ProblemType,
    )
    async def one_problem(slug: str) -> ProblemType | Response:
        """One kind of problem."""
        for kind in ProblemKind:
            if kind.slug == slug:
                return ProblemType.of(kind)
        return plain_problem(404, f"There is no kind of problem called {slug}.")

    return routes
