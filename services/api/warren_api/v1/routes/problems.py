"""The kinds of problems: what the `type` of an error links to."""

from __future__ import annotations

from fastapi import APIRouter, Response

from warren_api.http.problem import ProblemKind, ProblemType, ProblemTypes, documented, problem


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
        responses=documented(ProblemKind.PROBLEM_NOT_FOUND),
    )
    async def one_problem(slug: str) -> ProblemType | Response:
        """One kind of problem."""
        for kind in ProblemKind:
            if kind.slug == slug:
                return ProblemType.of(kind)
        detail = f"There is no kind of problem called {slug}."
        return problem(ProblemKind.PROBLEM_NOT_FOUND, detail)

    return routes
