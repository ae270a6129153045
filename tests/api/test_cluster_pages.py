"""The page of a cluster, and what leads to it."""

import pytest
from api.read_pages import fact, page, text
from api.served_api import NOW, Api
from api.test_clusters import say
from bs4 import BeautifulSoup
from warren.contracts import MINUTE_MS

THIS = NOW - NOW % MINUTE_MS
HOUR = 60 * MINUTE_MS


@pytest.fixture
def api() -> Api:
    """Groups of every status on demo, two on dark, which cannot be reached."""
    api = Api(clusters=("demo", "dark"))
    say(api, "a", "ok", since=NOW - HOUR)
    say(api, "b", "unreachable", "dark", since=NOW - HOUR, problem="no <broker> answers")
    incident = {"id": "i", "opened_at": NOW - 5 * MINUTE_MS}
    api.put("bad", status="ERR", incident=incident, explanation="<b>stuck</b>", total_lag=70)
    api.put("slow", status="WARN", total_lag=7)
    api.put("fine")
    for group in ("was-bad", "was-fine"):
        status = "ERR" if group == "was-bad" else "OK"
        api.put(group, cluster="dark", status=status, evaluated_at=NOW - HOUR)
    return api


def links(soup: BeautifulSoup) -> list[str]:
    return [str(a["href"]) for a in soup.select("main a")]


@pytest.mark.parametrize("path", ["/clusters/demo", "/fragments/clusters/demo"])
def test_how_it_stands_with_a_cluster(api: Api, path: str) -> None:
    soup = page(api, path)
    assert text(fact(soup, "State")) == "State ok"
    assert text(fact(soup, "Since")) == "Since 1h"
    assert text(fact(soup, "Groups")) == "Groups 3"
    assert text(fact(soup, "Topics")) == "Topics 1"
    assert text(fact(soup, "Lag")) == "Lag 77"
    assert text(fact(soup, "Incidents")) == "Incidents 1 open 1 began in 24h"
    assert [text(total) for total in soup.select(".totals li")] == ["1 ERR", "1 WARN", "1 OK"]


def test_what_is_the_matter_with_it(api: Api) -> None:
    soup = page(api, "/clusters/dark")
    assert text(fact(soup, "State")) == "State unreachable"
    assert "no <broker> answers" in text(soup.select(".why")[0])
    totals = [text(total) for total in soup.select(".totals li")]
    assert totals == ["1 ERR", "0 WARN", "1 UNKNOWN", "0 OK"]
    api.clock.advance(300)
    soup = page(api, "/clusters/dark")
    assert text(fact(soup, "State")) == "State unknown"
    assert "A collector was last heard of 5m" in text(soup.select(".why")[0])


def test_its_worst_groups_and_all_of_them(api: Api) -> None:
    soup = page(api, "/clusters/demo")
    assert [a.get_text() for a in soup.select("tbody th a")] == ["bad", "slow"]
    assert "<b>stuck</b>" in text(soup.select("tbody tr")[0])
    there = links(soup)
    assert "/?q=cluster%3A%3D%22demo%22" in there
    assert "/?q=cluster%3A%3D%22demo%22+status%3Aerr" in there
    assert "/topics?q=cluster%3A%3D%22demo%22" in there
    assert "/incidents?q=cluster%3A%3D%22demo%22" in there
    assert "/api/v1/clusters/demo" in there
    assert "warren get groups --cluster demo" in text(soup.select("main")[0])
    worst = [a.get_text() for a in page(api, "/clusters/dark").select("tbody th a")]
    assert worst == ["was-bad", "was-fine"]


def test_its_past(api: Api) -> None:
    assert not page(api, "/clusters/demo").select("svg.chart")
    for n in range(1, 61):
        status = {"ERR": 60_000} if n <= 15 else {"OK": 60_000}
        api.remember("bad", THIS - n * MINUTE_MS, status_ms=status)
        api.remember("slow", THIS - n * MINUTE_MS, status_ms={"WARN": 60_000})
    soup = page(api, "/clusters/demo")
    titles = [text(title) for title in soup.select("svg.chart > title")]
    assert titles[0] == (
        "Groups that are not OK, on average, last hour: ERR 1 at the end, between 0 and 1; "
        "WARN 1 at the end, between 1 and 1"
    )
    assert titles[1].startswith("Late, last hour: the latest group 1s at the end")
    assert titles[2].startswith("Lag, last hour: lag of all groups 10 at the end")
    assert "/api/v1/clusters/demo/history" in links(soup)
