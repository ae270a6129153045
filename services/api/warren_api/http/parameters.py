"""Query parameters that a route does not take: unknown ones, and single ones that are repeated."""

from __future__ import annotations

from collections import Counter
from typing import get_origin

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel


def require_known_parameters(request: Request) -> None:
    """Raise RequestValidationError; a dependency of routes, each with one model of its query, which
    refuses what it does not know, or none.
    """
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    fields = route.dependant.query_params
    model = fields[0].field_info.annotation if fields else None
    given = Counter(name for name, _ in request.query_params.multi_items())
    if isinstance(model, type) and issubclass(model, BaseModel):
        repeated = {name for name, times in given.items() if times > 1}
        refused = [_refused(name, "repeated") for name in repeated & _single(model)]
    else:
        refused = [_refused(name, "extra_forbidden") for name in given]
    if refused:
        raise RequestValidationError(refused)


def _single(model: type[BaseModel]) -> set[str]:
    """Names of parameters that are no lists."""
    return {
        field.alias or name
        for name, field in model.model_fields.items()
        if get_origin(field.annotation) is not list
    }


def _refused(name: str, kind: str) -> dict[str, object]:
    """As pydantic describes an error."""
    return {"type": kind, "loc": ("query", name), "msg": "is given more than once"}
