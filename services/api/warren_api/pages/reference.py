"""`/docs`: what can be asked over HTTP, made from the OpenAPI document; no script, nothing from
elsewhere.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

METHODS = ("get", "post", "delete")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What may be asked with; `said` is what it means."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be asked."""

    method: str
    path: str
    said: str
    parameters: list[Parameter]


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """In the order of the document; parameters of the path are in the path."""
    for path, methods in document["paths"].items():
        for method in METHODS:
            if described := methods.get(method):
                asked = [
                    Parameter(each["name"], each.get("description", ""))
                    for each in described.get("parameters", [])
                    if each["in"] != "path"
                ]
                yield Operation(method.upper(), path, described["description"], asked)


def add_routes(routes: APIRouter, render: Callable[..., Response]) -> None:
    @routes.get("/docs")
    def docs(request: Request) -> Response:
        document = request.app.openapi()
        return render(
            "reference.html",
            operations=list(operations(document)),
            version=document["info"]["version"],
        )
