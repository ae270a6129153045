"""`/v3/admin/loglevel` as Burrow 1.9.5 answers."""

import logging
from collections.abc import Iterator

import pytest
from api.burrow_goldens import golden
from api.served_api import Api

PATH = "/v3/admin/loglevel"
REQUEST = golden('"request":{"url":"/v3/admin/loglevel","host":"host"}}')


@pytest.fixture(autouse=True)
def level_as_before() -> Iterator[None]:
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.INFO)
    yield
    root.setLevel(before)


def test_the_level_is_that_of_the_process(api: Api) -> None:
    answer = api.get(PATH)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.text == (
        f'{{"error":false,"message":"log level returned","level":"info",{REQUEST}'
    )


@pytest.mark.parametrize(
    ("body", "name", "level"),
    [
        ('{"level":"WARNING"}', "warn", logging.WARNING),
        ('{"level":"warn"}', "warn", logging.WARNING),
        ('{"level":"trace"}', "debug", logging.DEBUG),
        ('{"level":"debug"}', "debug", logging.DEBUG),
        ('{"Level":"fatal"}', "fatal", logging.CRITICAL),
        ('{"level":"Error"}', "error", logging.ERROR),
        ('{"level":"debug","other":1} and more', "debug", logging.DEBUG),
    ],
)
def test_setting_it(api: Api, body: str, name: str, level: int) -> None:
    answer = api.request("POST", PATH, content=body)
    assert answer.status_code == 200
    assert answer.text == f'{{"error":false,"message":"set log level",{REQUEST}'
    assert api.get(PATH).json()["level"] == name
    assert logging.getLogger().level == level


@pytest.mark.parametrize("body", ['{"level":"loud"}', "{}", "null", '{"level":null}'])
def test_a_level_that_there_is_not(api: Api, body: str) -> None:
    answer = api.request("POST", PATH, content=body)
    assert answer.status_code == 404
    assert answer.text == f'{{"error":true,"message":"unknown log level",{REQUEST}'
    assert logging.getLogger().level == logging.INFO


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        '"debug"',
        '{"level":5}',
        "nonsense",
        "",
        b"\xff",
        "[" * 30_000,
        '{"level":"' + 9000 * "x",
    ],
)
def test_a_body_that_cannot_be_read(api: Api, body: str | bytes) -> None:
    answer = api.request("POST", PATH, content=body)
    assert answer.status_code == 400
    assert answer.text == f'{{"error":true,"message":"could not decode message body",{REQUEST}'
    assert logging.getLogger().level == logging.INFO


def test_what_else_the_path_knows(api: Api) -> None:
    options = api.request("OPTIONS", PATH)
    assert (options.status_code, options.content) == (200, b"")
    assert options.headers["allow"] == "GET, OPTIONS, POST"
