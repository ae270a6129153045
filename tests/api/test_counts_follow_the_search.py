"""The overview: what is said of groups is said of those that are found; each is in one tab; what
needs action comes first, and of it the nearest loss of data.
"""

import re

import pytest
from api.served_api import NOW, Api, late

MINUTE = 60_000


@pytest.fixture
def several() -> Api:
    """Two clusters; one group of each kind, and two that lose data."""
    api = Api(clusters=("demo", "eu"))
    for name, status in (("broken", "ERR"), ("slow", "WARN"), ("quiet", "WARN"), ("fine", "OK")):
        opened = {"id": name, "opened_at": NOW} if status != "OK" else None
        api.put(name, status=status, incident=opened)
    for name in ("muted-losing", "soon", "sooner", "losing"):
        api.put(name, status="ERR", incident={"id": name, "opened_at": NOW - MINUTE})
    api.put("far", "eu", status="ERR", incident={"id": "far", "opened_at": NOW})
    for name, minutes in (("soon", 40), ("sooner", 20)):
        api.measure(name, late(90 * MINUTE, time_to_loss_ms=minutes * MINUTE))
    for name in ("losing", "muted-losing"):
        api.measure(name, late(9, lost_records=4))
    wanted = {"group": "^(muted-losing|quiet)$", "for_seconds": 3600, "why": "a test"}
    assert api.request("POST", "/api/v1/silences", json=wanted).status_code == 201
    return api


def tabs(html: str) -> dict[str, int]:
    counted = r"<span>(?:<svg.*?</svg>\s*)?([A-Z][A-Za-z ]+)</span> <b>([\d,]+)</b>"
    found = re.findall(counted, html, re.S)
    return {words: int(count) for words, count in found}


def rows(html: str) -> list[str]:
    return re.findall(r'<tr class="[^"]*" data-key="[^/"]+/([^"]+)">', html)


def headline(html: str) -> str:
    (text,) = re.findall(r'<p class="headline[^>]*>(.*?)</p>', html, re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text)).strip()


def test_the_nearest_loss_comes_first_of_what_needs_action(several: Api) -> None:
    shown = ["losing", "sooner", "soon", "broken", "far", "slow", "muted-losing", "quiet", "fine"]
    assert rows(several.get("/?q=is:any").text) == shown
    listed = several.get("/api/v1/groups").json()["groups"]
    assert [row["group"] for row in listed] == shown
    assert [row["data_loss"] for row in listed[:4]] == ["now", "soon", "soon", None]


def test_the_headline_is_of_what_is_found(several: Api) -> None:
    whole = several.get("/").text
    assert headline(whole).startswith("5 need action · 2 losing data (1 handled) · 2 more, ")
    assert re.search(r'is%3Alosing"><b>2</b>', whole), "the same number as its button"
    part = several.get("/?q=cluster:eu").text
    assert headline(part) == "1 of 9 groups found · 1 needs action"
    assert tabs(part) == {
        "Needs action": 1, "Warning": 0, "Handled": 0, "Unknown": 0, "OK": 0, "All": 1
    }  # fmt: skip
    assert "losing data" not in part
    assert 'data-title="1 ERR, 0 WARN · Warren"' in part
    assert headline(several.get("/?q=nothing").text) == "0 of 9 groups found"
