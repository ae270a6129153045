"""The description of `/api/v1`: complete and valid."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from api.served_api import Api
from jsonschema import Draft202012Validator
from warren.contracts import StatusChangeEvent
from warren_api.v1.openapi import MEANINGS, OF_MODELS, OPERATIONS


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    document: dict[str, Any] = Api().get("/api/v1/openapi.json").json()
    return document


def contents(description: dict[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Path, status code, media type and what is said of it."""
    for path, operations in description["paths"].items():
        for operation in operations.values():
            for code, response in operation["responses"].items():
                for media_type, content in response.get("content", {}).items():
                    yield path, code, media_type, content


def test_operations_are_called_as_people_would_call_them(description: dict[str, Any]) -> None:
    ids = [o["operationId"] for path in description["paths"].values() for o in path.values()]
    assert len(set(ids)) == len(ids) == len(OPERATIONS)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)+", each) for each in ids)
    assert description["paths"]["/api/v1/groups"]["get"]["operationId"] == "list_groups"


def test_every_property_says_what_it_means(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    silent = [
        f"{model}.{name}"
        for model, schema in schemas.items()
        for name, said in schema.get("properties", {}).items()
        if not said.get("description")
    ]
    assert silent == []
    used = {name for schema in schemas.values() for name in schema.get("properties", {})}
    assert MEANINGS.keys() <= used
    of_models = {
        f"{model}.{name}"
        for model, schema in schemas.items()
        for name in schema.get("properties", {})
    }
    assert OF_MODELS.keys() <= of_models


def test_every_answer_has_a_schema_that_allows_its_examples(description: dict[str, Any]) -> None:
    for _, _, _, content in contents(description):
        schema = {"components": description["components"], **content["schema"]}
        Draft202012Validator.check_schema(schema)
        several = [each["value"] for each in content.get("examples", {}).values()]
        for example in [content["example"]] if "example" in content else several:
            Draft202012Validator(schema).validate(example)


def test_errors_are_problems_only(description: dict[str, Any]) -> None:
    for path, code, media_type, content in contents(description):
        if code not in ("200", "201"):
            assert media_type == "application/problem+json", (path, code)
            assert content["schema"] == {"$ref": "#/components/schemas/Problem"}


def test_the_webhook_is_an_event_of_the_contract(description: dict[str, Any]) -> None:
    (sent,) = description["webhooks"].values()
    (content,) = sent["post"]["requestBody"]["content"].values()
    schema = {"components": description["components"], **content["schema"]}
    Draft202012Validator(schema).validate(content["example"])
    assert StatusChangeEvent.from_bytes(json.dumps(content["example"]).encode())


def test_the_page_of_the_api_shows_every_operation(description: dict[str, Any]) -> None:
    page = Api().get("/docs").text
    for path, operations in description["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in page
    assert 'href="/docs"' in Api().get("/").text
