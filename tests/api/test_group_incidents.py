"""Incidents on a group's page: each with what it was, many in a short time as one row."""

import pytest
from api.read_pages import cells, page, text
from api.served_api import NOW, Api
from warren.contracts import MINUTE_MS

HOUR = 60 * MINUTE_MS
THIS = NOW - NOW % MINUTE_MS
PATH = "/groups/demo/billing"
CAUSE = {"name": "no_members", "sentence": "nobody is in <it>", "action": "start them"}


@pytest.fixture
def api(api: Api) -> Api:
    api.put("billing")
    return api


def begin(api: Api, at: int, lasts: int | None = MINUTE_MS, status: str = "ERR") -> str:
    """An incident that begins then and is over `lasts` milliseconds later: its id."""
    api.change("billing", status, at, cause=CAUSE)
    if lasts is not None:
        api.change("billing", "OK", at + lasts, previous=status, opened_at=at)
    return f"billing-{at}"


def shown(api: Api) -> list[dict[str, str]]:
    return [cells(row) for row in page(api, PATH).select(".incidents tbody tr")]


def test_each_with_when_how_bad_and_why(api: Api) -> None:
    assert shown(api) == []
    old = begin(api, NOW - 5 * HOUR, 2 * HOUR, "WARN")
    opened = NOW - 10 * MINUTE_MS
    new = begin(api, opened, None)
    cause = {"name": "no_members", "sentence": "nobody is in <it>"}
    api.put("billing", status="ERR", incident={"id": new, "opened_at": opened}, cause=cause)
    assert shown(api) == [
        {
            "Worst": "ERR",
            "Started": "10m ago 06:50 UTC",
            "Duration": "10m, ongoing",
            "What was wrong": "No members nobody is in <it>",
        },
        {
            "Worst": "WARN",
            "Started": "5h ago 02:00 UTC",
            "Duration": "2h",
            "What was wrong": "No members at 02:00 UTC : nobody is in <it>",
        },
    ]
    links = [a["href"] for a in page(api, PATH).select(".incidents tbody th a")]
    assert links == [f"/incidents/{new}", f"/incidents/{old}"]


def test_they_are_shaded_in_the_charts(api: Api) -> None:
    for n in range(1, 61):
        api.remember("billing", THIS - n * MINUTE_MS)
    begin(api, THIS - 30 * MINUTE_MS, 15 * MINUTE_MS)
    begin(api, THIS - 5 * HOUR, MINUTE_MS)
    newest = begin(api, THIS - 6 * MINUTE_MS, None, "WARN")
    api.put("billing", status="WARN", incident={"id": newest, "opened_at": THIS - 6 * MINUTE_MS})
    chart = page(api, PATH).select("svg.chart")[0]
    shades = chart.select("rect.incident")
    assert [(rect["x"], rect["width"]) for rect in shades] == [
        ("540.0", "60.0"),
        ("300.0", "150.0"),
    ]
    assert [text(rect) for rect in shades] == ["WARN incident, open", "ERR incident, 15m"]
    api.change(
        "billing", "OK", THIS - 3 * MINUTE_MS, previous="WARN", opened_at=THIS - 6 * MINUTE_MS
    )
    api.put("billing")
    shades = page(api, PATH).select("svg.chart")[0].select("rect.incident")
    assert [rect["width"] for rect in shades] == ["30.0", "150.0"]
