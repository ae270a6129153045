"""What is wrong with a value is said in our words, wherever it is said."""

import re
from urllib.parse import urlencode

import pytest
from api.served_api import Api

BROWSER = {"Accept": "text/html"}
RAW = re.compile(r"Input should|Extra inputs|String should|Field required|Value error|a valid ")
BODIES = [
    b"[]",
    b"{}",
    b"3",
    b'{"group": 3, "for_seconds": "x", "why": null}',
    b'{"group": "(", "for_seconds": 0, "why": ""}',
    b'{"group": "a", "for_seconds": 1.5, "why": "x", "colour": 1, "begins_at": -1}',
    b'{"group": "a", "for_seconds": 99999999999999999999999, "why": "' + b"x" * 600 + b'"}',
]


@pytest.mark.parametrize("path", ["silences", "notifications/test"])
@pytest.mark.parametrize("body", BODIES)
def test_bodies(api: Api, path: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.request("POST", f"/api/v1/{path}", content=body, headers=headers)
    if answer.status_code == 422:
        assert not RAW.search(answer.text), answer.text
        assert "taken here" not in answer.text, answer.text


def test_forms_name_fields_as_the_page_does(api: Api) -> None:
    api.put("billing")
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    def post(path: str, **said: str) -> str:
        answer = api.request("POST", path, content=urlencode(said), headers=form)
        assert answer.status_code == 422
        assert not RAW.search(answer.text)
        return answer.text

    said = post("/groups/demo/billing/silence", length="1h", by="x" * 101)
    assert "Your name must have at most 100 characters." in said
    assert "How long it lasts must be more than 0." in post("/groups/demo/billing/silence")


def test_a_group_that_does_not_exist_is_not_silenced(api: Api) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    path = "/groups/demo/nobody/silence"
    for answer in (
        api.get(path),
        api.request("POST", path, content="length=1h", headers=form),
    ):
        assert answer.status_code == 404
        assert "Warren knows no consumer group nobody on demo" in answer.text
    assert not api.model.silences.all()


def test_an_endpoint_that_there_is_not(api: Api) -> None:
    unknown = api.get("/api/v1/nope").json()["detail"]
    assert unknown == "No such endpoint: GET /api/v1/nope. /docs lists those there are."
    refused = api.request("PUT", "/api/v1/silences").json()["detail"]
    assert refused.startswith("No such endpoint: PUT /api/v1/silences. There is one for GET")
    said = api.get("/api/v1/groups?limt=3").json()["detail"]
    assert said == "query.limt: is not known; /docs lists what is taken"
