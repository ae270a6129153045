"""The OpenAPI 3.1 description of `/api/v1`, with examples; also docs/openapi.json."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from warren_api.http.problem import MEDIA_TYPE, Problem, ProblemKind, documented
from warren_api.v1.examples import BY_MODEL
from warren_api.v1.meanings import MEANINGS, OF_MODELS, OPERATIONS

PATH = "/api/v1/openapi.json"
_PREFIX = "/api/v1"
_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_DESCRIPTION = """What Warren knows of Kafka consumer groups: which is stuck, since when, how late,
how long until data is lost, and why.

Times are Unix milliseconds, durations milliseconds, rates records per second; unknown is null,
never 0. Readers ignore fields that they do not know. Errors are `application/problem+json`
(RFC 9457).
"""


def document(app: FastAPI) -> dict[str, Any]:
    """Of the routes of `app` that are not hidden."""
    described = get_openapi(
        title="Warren",
        version=version("warren-api"),
        summary="Kafka consumer groups, judged",
        description=_DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        openapi_version="3.1.0",
        routes=app.routes,
    )
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            operation["operationId"] = OPERATIONS[method, path.removeprefix(_PREFIX)]
            _correct(operation["responses"])
    components = described["components"]
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own errors: not ours
        components["schemas"].pop(name, None)
    components["schemas"]["Problem"] = Problem.model_json_schema(mode="serialization")
    for name, schema in components["schemas"].items():
        _describe(name, schema)
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "basic": {
            "type": "http",
            "scheme": "basic",
            "description": "The token is the password; the user name does not matter.",
        },
    }
    # {}: on a loopback address, or as api.without_token says, none is needed.
    described["security"] = [{"bearer": []}, {"basic": []}, {}]
    return described


def install(app: FastAPI) -> None:
    """Serves it: made once, when it is first asked for."""

    def openapi() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation has it


def _describe(model: str, schema: dict[str, Any]) -> None:
    """Says what the properties mean that do not say it themselves."""
    for name, described in schema.get("properties", {}).items():
        meaning = OF_MODELS.get(f"{model}.{name}") or MEANINGS.get(name)
        if meaning and "description" not in described:
            described["description"] = meaning


def _correct(responses: dict[str, Any]) -> None:
    if "HTTPValidationError" in str(responses.get("422", "")):
        responses["422"] = documented(ProblemKind.INVALID_REQUEST)[422]
    responses["401"] = documented(ProblemKind.TOKEN_NEEDED)[401]
    answer = responses["200"]["content"].get("application/json")
    if answer:
        # Not through FastAPI, which would leave out what is null.
        answer["example"] = BY_MODEL[answer["schema"]["$ref"].rpartition("/")[2]]
    for response in responses.values():
        if problems := response.get("content", {}).get(MEDIA_TYPE):
            problems["schema"] = _PROBLEM
