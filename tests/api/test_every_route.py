"""What holds for every route, whatever it is for: who may ask and change something, under which
name, what is not read yet, what nobody knows, and with which methods.
"""

import re
from typing import Any

import pytest
from api.served_api import NOW, Api
from fastapi.routing import APIRoute
from warren.api_tokens import hash_of, new_token
from warren.settings import ApiSettings, ApiToken
from warren_api.http.access import OPEN_PATHS
from warren_api.model.cluster import FeedState

READ, ADMIN = new_token(), new_token()
TOKENS = [
    ApiToken(name="grafana", role="read", hash=hash_of(READ)),
    ApiToken(name="ops", role="admin", hash=hash_of(ADMIN)),
]
ROUTES = [route for route in Api().app.routes if isinstance(route, APIRoute)]
EVENTS = "/api/v1/events"  # has no end where somebody may follow it
OPENAPI = "/api/v1/openapi.json"
GET = sorted({r.path for r in ROUTES if "GET" in r.methods} - {EVENTS})
CHANGES = sorted((m, r.path) for r in ROUTES for m in r.methods if m not in ("GET", "HEAD"))
NAMED = [path for path in GET if "{" in path and not path.endswith(("/silence", "/{slug}"))]
# Of a cluster that nobody knows settings, and whether it is well, are known all the same.
ABSENT = [path for path in NAMED if not path.startswith(("/v3/config", "/reports"))]
BODIES: dict[str, dict[str, Any]] = {
    "/api/v1/silences": {"group": "billing", "for_seconds": 60, "why": "x"},
    "/api/v1/notifications/test": {"route": "r"},
    "/v3/admin/loglevel": {"level": "info"},
}


def at(path: str) -> str:
    """Of things that are not there."""
    return re.sub(r"\{\w+\}", "nothing", path)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def kind_of(path: str) -> str:
    """Of an error's body."""
    return "application/problem+json" if path.startswith("/api/") else ""


@pytest.fixture
def shut() -> Api:
    """One that wants a token."""
    api = Api(api=ApiSettings(tokens=TOKENS))
    api.put("secret-group", status="ERR", incident={"id": "i-1", "opened_at": NOW})
    return api


def test_without_a_token_nothing_is_told(shut: Api) -> None:
    assert min(len(GET), 5 * len(CHANGES)) > 50, "there are routes to look at"
    for path in (*GET, EVENTS, OPENAPI, "/no/such/path"):
        answer = shut.get(at(path))
        assert answer.status_code == (200 if path in OPEN_PATHS else 401), path
        assert "secret-group" not in answer.text, path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert answer.headers["cache-control"] == "no-store", path


def test_changing_something_needs_an_admin_and_a_page_of_our_own(shut: Api) -> None:
    for method, path in CHANGES:

        def status(method: str = method, path: str = path, **headers: str) -> int:
            return shut.request(
                method, at(path), json=BODIES.get(path), headers=headers
            ).status_code

        assert status() == 401, path
        assert status(**bearer(READ)) == 403, path
        for foreign in ("https://evil.example", "null", "http://localhost:1"):
            assert status(**bearer(ADMIN), Origin=foreign) == 403, path
        assert status(**bearer(ADMIN), **{"Sec-Fetch-Site": "cross-site"}) == 403, path
        assert not shut.model.silences.all()
        assert status(**bearer(ADMIN), Origin="http://localhost") not in (401, 403), path
        for silence in shut.model.silences.all():
            assert silence.by == "ops", "whose token it is"
            shut.model.silences.keep_only(set(), set())


def test_a_name_that_was_made_to_point_here_reads_nothing(api: Api) -> None:
    for path in (*GET, OPENAPI):
        answer = api.get(at(path), headers={"Host": "evil.example"})
        assert answer.status_code == (200 if path in OPEN_PATHS else 403), path


def test_no_wrong_answer_while_starting(api: Api) -> None:
    api.feed = FeedState(ready=False, problem=None)
    for path in (*(p for p in GET if p.startswith("/api/v1") and "problems" not in p), EVENTS):
        answer = api.get(at(path))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1"), path
        assert answer.json()["type"] == "/api/v1/problems/starting"
        assert "still reading" in answer.json()["detail"]
    for method, path in CHANGES:
        if path.startswith("/api/v1") and not path.endswith("/test"):  # which needs no topic
            assert api.request(method, at(path), json=BODIES.get(path)).status_code == 503, path


def test_what_nobody_knows_is_not_found(api: Api) -> None:
    for path in ABSENT:
        answer = api.get(at(path))
        assert answer.status_code == 404, path
        assert kind_of(path) in answer.headers["content-type"], path
        assert not kind_of(path) or answer.json()["title"].endswith("not found"), path


def test_other_methods_are_refused_and_those_that_there_are_told(api: Api) -> None:
    for path in {r.path for r in ROUTES}:
        known = {m for r in ROUTES if r.path == path for m in r.methods} - {"HEAD"}
        answer = api.request("PATCH", at(path))
        assert answer.status_code == 405, path
        assert kind_of(path) in answer.headers["content-type"], path
        more = ({"HEAD"} if "GET" in known else set()) if kind_of(path) else {"OPTIONS"}
        assert answer.headers["allow"] == ", ".join(sorted(known | more)), path
        assert kind_of(path) or answer.text == "Method Not Allowed\n", path


def test_head_is_get_without_the_body(api: Api) -> None:
    for path in (*GET, OPENAPI):
        head, get = api.request("HEAD", at(path)), api.get(at(path))
        assert (head.status_code, head.content) == (get.status_code, b""), path
        assert head.headers.keys() == get.headers.keys(), path


def test_a_fragment_is_a_part_of_its_page(api: Api) -> None:
    for path in (each for each in GET if each.startswith("/fragments/")):
        whole = "/" if path == "/fragments/groups" else at(path.removeprefix("/fragments"))
        assert ["<html" in api.get(each).text for each in (at(path), whole)] == [False, True], path
