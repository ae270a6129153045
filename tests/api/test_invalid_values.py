"""Values in a page's address that it does not take: a page for people, a problem for programs."""

import pytest
from api.read_pages import fill, text
from api.served_api import Api
from bs4 import BeautifulSoup

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def filled(api: Api) -> Api:
    return fill(api)


@pytest.mark.parametrize(
    ("path", "named", "without"),
    [
        ("/?sort=nope", ["sort=nope"], "/"),
        ("/?q=a%26b+c&page=abc&sort=lag", ["page=abc"], "/?q=a%26b+c&sort=lag"),
        ("/?sort=<b>&order=up", ["sort=<b>", "order=up"], "/"),
        ("/?order=a%0Ab", ["order=a\N{SYMBOL FOR LINE FEED}b"], "/"),
        ("/groups/demo/a%2Fb?span=2h", ["span=2h"], "/groups/demo/a%2Fb"),
        ("/groups/demo/billing?from=x&to=9", ["from=x"], "/groups/demo/billing?to=9"),
    ],
)
def test_a_page_names_the_value_and_leads_to_the_page_without_it(
    filled: Api, path: str, named: list[str], without: str
) -> None:
    answer = filled.get(path, headers=BROWSER)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    soup = BeautifulSoup(answer.text, "html.parser")
    assert [text(code) for code in soup.select("main code")] == named
    (link,) = [a for a in soup.select("main a") if text(a) == "The page without it"]
    assert link["href"] == without
    assert not soup.select("#beat"), "nothing in it becomes another"
    assert filled.get(without, headers=BROWSER).status_code in (200, 404)


@pytest.mark.parametrize("path", ["/?sort=nope", "/fragments/groups?sort=nope"])
def test_programs_get_a_problem(filled: Api, path: str) -> None:
    for headers in ({}, {"Accept": "application/json"}):
        answer = filled.get(path, headers=headers)
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"].startswith("query.sort: ")


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("groups?limit=1&limit=2", "query.limit: is given more than once"),
        ("groups/demo/billing/history?from=1&from=2", "query.from: is given more than once"),
        ("groups/demo/billing?x=1", "query.x: is not known; /docs lists what is taken"),
        ("groups/demo/billing?x=1&x=2", "query.x: is not known; /docs lists what is taken"),
        ("topics/demo/orders?x=1", "query.x: is not known; /docs lists what is taken"),
        ("clusters?cluster=demo", "query.cluster: is not known; /docs lists what is taken"),
        ("problems?=", "query: is not known; /docs lists what is taken"),
    ],
)
def test_each_endpoint_refuses_what_it_does_not_take(filled: Api, path: str, detail: str) -> None:
    answer = filled.get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["detail"]) == (422, detail)
    assert filled.get(f"/api/v1/{path.partition('?')[0]}").status_code != 422
    assert filled.get("/api/v1/groups?status=OK&status=ERR").status_code == 200


def test_every_value_that_is_not_taken_is_named(api: Api) -> None:
    said = api.get("/api/v1/groups?sort=soon&limit=0&colour=red").json()
    assert {each["name"] for each in said["errors"]} == {"sort", "limit", "colour"}
    for each in said["errors"]:
        assert f"{each['place']}.{each['name']}: {each['detail']}" in said["detail"]
    assert "errors" not in api.get("/api/v1/groups/demo/nobody").json()
