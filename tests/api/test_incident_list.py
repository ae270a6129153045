"""The list of incidents: searched, page by page."""

import pytest
from api.read_pages import page, text
from api.served_api import NOW, Api
from warren_api.pages.lists import INCIDENTS_SHOWN

MINUTE = 60_000


@pytest.fixture
def api(api: Api) -> Api:
    """billing's is open, mailer's of demo and eu's books' are over."""
    incident = {"id": "billing-1", "opened_at": NOW - 9 * MINUTE}
    api.put("billing", status="ERR", incident=incident)
    gone = {"name": "records_lost", "sentence": "9 are gone"}
    stuck = {"cause": {"name": "stuck", "sentence": "one record stops it", "also": [gone]}}
    for n, (group, cluster) in enumerate((("mailer", "demo"), ("books", "eu"))):
        opened = NOW - (n + 1) * MINUTE
        api.change(group, "WARN", opened, cluster=cluster, **stuck)
        ended = {"previous": "WARN", "opened_at": opened}
        api.change(group, "OK", opened + 30_000, cluster=cluster, **ended)
    return api


def names(api: Api, query: str = "") -> list[str]:
    return [text(a) for a in page(api, f"/incidents{query}").select("tbody th a")]


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("", ["billing", "mailer", "books"]),
        ("is:open", ["billing"]),
        ("is:over", ["mailer", "books"]),
        ("-is:open", ["mailer", "books"]),
        ("cluster%3A%22eu%22", ["books"]),
        ("group:mail,book", ["mailer", "books"]),
        ("EU/BOO", ["books"]),
        ("status:err", ["billing"]),
        ("status:err,warn is:over", ["mailer", "books"]),
        ("cause:stops", ["mailer", "books"]),
        ("cause:records_lost", ["mailer", "books"]),
        ("is:strange", []),
        ("status:strange", []),
    ],
)
def test_what_is_searched_for(api: Api, q: str, expected: list[str]) -> None:
    assert names(api, f"?q={q}") == expected


def test_what_was_not_understood_is_said(api: Api) -> None:
    soup = page(api, "/incidents?q=is:strange status:odd")
    assert [text(said) for said in soup.select(".problem")] == [
        "is: needs one of open, over.",
        "status: needs one of err, warn.",
    ]
    assert "No incident matches" in text(page(api, "/incidents?q=nothing"))


def test_page_by_page_open_ones_first(api: Api) -> None:
    for n in range(INCIDENTS_SHOWN):
        opened = NOW - (n + 10) * MINUTE
        api.change(f"g-{n}", "ERR", opened)
        api.change(f"g-{n}", "OK", opened + 30_000, previous="ERR", opened_at=opened)
    assert names(api)[:3] == ["billing", "mailer", "books"]
    soup = page(api, "/incidents?q=demo")
    assert len(soup.select("tbody tr")) == INCIDENTS_SHOWN
    (after,) = soup.select(".pages a[rel=next]")
    assert after["href"] == "/incidents?q=demo&page=2"
    assert names(api, "?page=2") == ["g-47", "g-48", "g-49"]
    assert names(api, "?page=9") == ["g-47", "g-48", "g-49"]
    (live,) = page(api, "/fragments/incidents?page=2").select("[data-announcement]")
    assert live["data-announcement"] == "1 incident is open"
