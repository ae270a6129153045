"""Expressions that cost much: whoever sends one gets an answer, everybody else does meanwhile."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from api.served_api import NOW, Api, served
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from warren_api.app import own_api
from warren_api.metrics import scrape as metrics
from warren_api.pages import routes as pages

WITHIN = 0.2  # seconds in which health is told, whatever is asked for
ROUNDS = 4  # a machine that does other things may be late in each but one
SECONDS = 120  # a test that waits longer fails
MANY = 1500
LONG = "a" * 240  # with a number about as long as Kafka lets the name of a topic be
COSTLY = {
    "repeated classes": "((a|.){1,50}){18}z",
    "less, that silences may have": "(.{1,30}){5}z",
    "little, that has many states": "(a?){200}a{100}z",
    "much to read": "(?i)" + r"\pL" * 98,
    "much to read, that silences may have": "(?i)" + "[k-\u2000]" * 55,
    "many words": " ".join(f"k{number}:v" for number in range(45)),
}
Asked = tuple[str, str, dict[str, Any]]
"""Method, path, and what httpx is to send along."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    api = Api()
    for number in range(MANY):
        name = f"{LONG}{number}"
        api.change(name, "ERR", NOW)
        api.put(name, status="ERR", topics={})
    api.list_topics({f"{LONG}{number}": [1] for number in range(MANY)})
    with served(api) as where:
        yield where


def described() -> dict[str, Any]:
    """OpenAPI of all that the application serves but Burrow's interface, which takes no text."""
    context, app = Api().context, FastAPI()
    for router in (own_api, metrics.router, pages.router):
        routes = router(context)
        routes.include_in_schema = True
        for route in routes.routes:
            if isinstance(route, APIRoute):
                route.include_in_schema = True
        app.include_router(routes)
    return get_openapi(title="all", version="1", routes=app.routes)


def is_text(schema: dict[str, Any]) -> bool:
    """Any text, not one of a list."""
    return (schema.get("type") == "string" and "enum" not in schema) or any(
        is_text(each) for each in schema.get("anyOf", ())
    )


def everything(pattern: str) -> Iterator[Asked]:
    """Requests that have the pattern in one place each where a text is taken, whatever is done with
    it: a parameter, or a field of the body.
    """
    document = described()
    models = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        place = re.sub(r"\{\w+\}", "nothing", path)
        for method, operation in methods.items():
            query = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
            also = {"last_event_id": "0:0"} if "last_event_id" in str(query) else {}
            for each in query:
                if is_text(each["schema"]):
                    yield method, place, {"params": {**also, each["name"]: pattern}}
            for content in operation.get("requestBody", {}).get("content", {}).values():
                model = models[re.findall(r"schemas/(\w+)", str(content))[0]]
                for name, schema in model["properties"].items():
                    if is_text(schema):
                        yield (
                            method,
                            place,
                            {"json": {"for_seconds": 60, "why": "x", name: pattern}},
                        )


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    """One for all: to make one takes the interpreter longer than to answer it."""
    with httpx.Client(base_url=address, timeout=SECONDS) as made:
        yield made


def answer(client: httpx.Client, asked: Asked) -> int:
    """Reads what comes at once: an event stream does not end."""
    method, path, along = asked
    with client.stream(method, path, **along) as response:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            next(response.iter_text())
        else:
            response.read()
        return response.status_code


class Health:
    """Asked for again and again in a thread; `longest`: seconds that an answer took, of which this
    process, which also serves, was at work: others on the machine may keep it from that.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self.longest = 0.0
        self.asked = 0

    def _ask(self) -> None:
        with httpx.Client(timeout=SECONDS) as client:
            while not self._stop.is_set():
                began, worked = time.monotonic(), time.process_time()
                assert client.get(f"{self._address}/burrow/admin").text == "GOOD"
                took = min(time.monotonic() - began, time.process_time() - worked)
                self.longest = max(self.longest, took)
                self.asked += 1

    def __enter__(self) -> Health:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive(), "health is not told"


def test_all_that_takes_an_expression_is_among_what_is_asked() -> None:
    asked = {(method, path) for method, path, _ in everything("x")}
    assert {
        ("get", f"/api/v1/{noun}")
        for noun in ("groups", "topics", "incidents", "notifications", "events")
    } <= asked
    assert ("post", "/api/v1/silences") in asked
    assert {("get", "/"), ("get", "/incidents"), ("get", "/topics")} <= asked


@pytest.mark.parametrize("pattern", COSTLY.values(), ids=COSTLY)
def test_health_is_told_at_once_whatever_expression_is_asked_for(
    address: str, client: httpx.Client, pattern: str
) -> None:
    """On every route that takes a text. A machine may be late now and then, and never all the time:
    what takes too long in one round is asked once more.
    """
    left = list(everything(pattern))
    took: dict[str, float] = {}
    for _ in range(ROUNDS):
        late: list[Asked] = []
        for asked in left:
            with Health(address) as health:
                status = answer(client, asked)
            assert status < 500, (asked, status)
            if health.longest > WITHIN:
                late.append(asked)
                took[str(asked)] = health.longest
        left = late
        if not left:
            break
    assert not left, took


@contextmanager
def followed(address: str, pattern: str) -> Iterator[Iterator[str]]:
    url = f"{address}/api/v1/events"
    with httpx.stream("GET", url, params={"regex": pattern}, timeout=SECONDS) as response:
        lines = response.iter_lines()
        assert next(lines).startswith("retry")
        yield lines


def test_a_stream_says_that_its_expression_costs_too_much_and_ends() -> None:
    api = Api()
    with (
        served(api) as where,
        followed(where, COSTLY["repeated classes"]) as lines,
        Health(where) as health,
    ):
        for number in range(MANY):
            api.change(f"{LONG}{number}", "ERR", NOW)
        told = list(lines)
    assert told[-3] == "event: warren.problem"
    problem = json.loads(told[-2].removeprefix("data: "))
    assert problem["type"] == "/api/v1/problems/pattern-too-costly"
    assert health.asked


def test_a_stream_goes_on_as_long_as_its_expression_costs_little() -> None:
    api = Api()
    with served(api) as where, followed(where, "a{3}.*9$") as lines:
        for number in range(MANY):
            api.change(f"{LONG}{number}", "ERR", NOW)
        found = [line for line in lines_until(lines, MANY // 10) if line.startswith("data")]
    assert json.loads(found[-1].removeprefix("data: "))["subject"] == f"{LONG}{MANY - 1}"


def lines_until(lines: Iterator[str], changes: int) -> Iterator[str]:
    for line in lines:
        yield line
        changes -= line.startswith("data")
        if not changes:
            return


@pytest.mark.parametrize("field", ["group", "cluster"])
@pytest.mark.parametrize("pattern", [COSTLY["repeated classes"], COSTLY["much to read"]])
def test_a_silence_that_is_too_large_to_match_is_refused(
    api: Api, field: str, pattern: str
) -> None:
    body = {field: pattern, "for_seconds": 60, "why": "x"}
    refused = api.request("POST", "/api/v1/silences", json=body)
    assert (refused.status_code, refused.json()["title"]) == (422, "Invalid request")
    assert api.get("/api/v1/silences").json() == {"silences": []}


def test_a_silence_that_takes_too_long_to_match_is_refused(address: str) -> None:
    body = {"group": "(.{1,30}){5}z", "for_seconds": 60, "why": "x"}
    refused = httpx.post(f"{address}/api/v1/silences", json=body, timeout=SECONDS)
    assert (refused.status_code, refused.json()["title"]) == (400, "Pattern too costly")
    known = httpx.get(f"{address}/api/v1/silences", timeout=SECONDS).json()["silences"]
    assert all(each["group"] != body["group"] for each in known)
