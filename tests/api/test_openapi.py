"""The description of `/api/v1`: complete, valid, and its examples are what it describes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api.served_api import Api
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from warren.contracts import StatusChangeEvent
from warren_api.v1.examples import BY_MODEL, EVENTS
from warren_api.v1.openapi import MEANINGS, OF_MODELS, OPERATIONS

DOCS = Path(__file__).parents[2] / "docs"


def models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Those of the API that are `base`, directly or not."""
    for each in base.__subclasses__():
        if each.__module__.startswith("warren_api."):
            yield each
        yield from models(each)


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


def test_docs_have_the_description_that_is_served(description: dict[str, Any]) -> None:
    assert json.loads((DOCS / "openapi.json").read_text()) == description


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


def test_every_answer_has_examples_that_its_schema_allows(description: dict[str, Any]) -> None:
    seen = 0
    for path, code, media_type, content in contents(description):
        schema = {"components": description["components"], **content["schema"]}
        Draft202012Validator.check_schema(schema)
        several = [each["value"] for each in content.get("examples", {}).values()]
        examples = [content["example"]] if "example" in content else several
        assert examples, (path, code, media_type)
        for example in examples:
            Draft202012Validator(schema).validate(example)
            seen += 1
    assert seen > 30


def test_errors_are_problems_only(description: dict[str, Any]) -> None:
    for path, code, media_type, content in contents(description):
        if code not in ("200", "201"):
            assert media_type == "application/problem+json", (path, code)
            assert content["schema"] == {"$ref": "#/components/schemas/Problem"}


@pytest.mark.parametrize("name", BY_MODEL)
def test_examples_have_all_fields_and_no_others(name: str) -> None:
    (model,) = [each for each in models(BaseModel) if each.__name__ == name]
    assert model.model_validate(BY_MODEL[name]).model_dump(by_alias=True) == BY_MODEL[name]


def test_the_example_of_a_stream_has_an_event_of_the_contract() -> None:
    (data,) = [line for line in EVENTS.splitlines() if line.startswith("data: ")]
    event = StatusChangeEvent.from_bytes(data.removeprefix("data: ").encode())
    assert json.loads(event.to_bytes()) == json.loads(data.removeprefix("data: "))


def test_the_webhook_is_an_event_of_the_contract(description: dict[str, Any]) -> None:
    (sent,) = description["webhooks"].values()
    (content,) = sent["post"]["requestBody"]["content"].values()
    schema = {"components": description["components"], **content["schema"]}
    Draft202012Validator(schema).validate(content["example"])
    assert StatusChangeEvent.from_bytes(json.dumps(content["example"]).encode())


def test_references_lead_somewhere(description: dict[str, Any]) -> None:
    names = set(description["components"]["schemas"])

    def references(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            for value in node.values():
                yield from references(value)
        elif isinstance(node, list):
            for value in node:
                yield from references(value)

    for reference_ in references(description):
        prefix, _, name = reference_.rpartition("/")
        assert (prefix, name in names) == ("#/components/schemas", True), reference_


def test_the_page_of_the_api_shows_every_operation(description: dict[str, Any]) -> None:
    page = Api().get("/docs").text
    for path, operations in description["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in page
    assert 'href="/docs"' in Api().get("/").text
