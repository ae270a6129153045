"""The world changes: every place that shows a figure shows the new one, and none the old."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from api.read_pages import cells, fact, page, text
from api.served_api import NOW, Api, late, topic

OPENED = NOW - 41 * 60_000
INCIDENT = {"id": f"billing-{OPENED}", "opened_at": OPENED}
BEFORE = {"lag": 11_111, "late": 11 * 60_000, "members": 1}
AFTER = {"lag": 55_555, "late": 25 * 60_000, "members": 3}


@pytest.fixture
def api(api: Api) -> Api:
    be(api, **BEFORE)
    api.change("billing", "ERR", OPENED, total_lag=222)
    return api


def be(api: Api, lag: int, late: int, members: int) -> None:
    """From now on that is how it is with the group."""
    now = api.clock.now_ms()
    rows = topic({"status": "STOP", "lag": lag, "log_end": lag + 100})
    fields: dict[str, Any] = {"topics": {"orders": rows}, "evaluated_at": now, "total_lag": lag}
    api.put("billing", status="ERR", incident=INCIDENT, **fields)
    api.measure("billing", _late(late), measured_at=now, observed_at=now)
    found = [
        {"member_id": f"m-{n}", "client_id": f"app-{n}", "host": "/10.0.0.1"}
        for n in range(members)
    ]
    api.describe("billing", members=found)


def _late(milliseconds: int) -> dict[str, Any]:
    return late(milliseconds)


def of_row(api: Api, path: str) -> dict[str, str]:
    (row,) = [row for row in page(api, path).select("tbody tr") if "billing" in text(row)]
    return {name: said for name, said in cells(row).items() if name in ("Lag", "Late")}


def of_facts(api: Api, path: str, *names: str) -> dict[str, str]:
    soup = page(api, path)
    return {name: text(fact(soup, name).dd) for name in names}  # type: ignore[arg-type]


PLACES: dict[str, Callable[[Api], dict[str, str]]] = {
    "overview": lambda api: of_row(api, "/"),
    "overview, live": lambda api: of_row(api, "/fragments/groups"),
    "overview, by owner": lambda api: of_row(api, "/?by=owner"),
    "group": lambda api: of_facts(api, "/groups/demo/billing", "Late", "Lag", "Members"),
    "group, live": lambda api: of_facts(
        api, "/fragments/groups/demo/billing", "Late", "Lag", "Members"
    ),
    "incident": lambda api: of_facts(
        api, f"/incidents/{INCIDENT['id']}", "Late now", "Lag now", "Members now"
    ),
    "incident, live": lambda api: of_facts(
        api, f"/fragments/incidents/{INCIDENT['id']}", "Late now", "Lag now", "Members now"
    ),
    "cluster": lambda api: of_row(api, "/clusters/demo"),
    "topic": lambda api: {
        "Lag": cells(page(api, "/topics/demo/orders").select("tbody tr")[0])["Lag here"]
    },
    "topics": lambda api: {"Lag": cells(page(api, "/topics").select("tbody tr")[0])["Largest lag"]},
}
SAID = {
    "Lag": ("11,111", "55,555"),
    "Late": ("11m", "25m"),
    "Members": ("1", "3"),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_figure_is_frozen(api: Api, place: str) -> None:
    for figures, which in ((BEFORE, 0), (AFTER, 1)):
        api.clock.advance(10)
        be(api, **figures)
        shown = PLACES[place](api)
        assert shown
        for name, said in shown.items():
            assert said.startswith(SAID[name.split()[0]][which]), (name, said)


def test_figures_of_the_opening_stand_beside_those_of_now(api: Api) -> None:
    soup = page(api, f"/incidents/{INCIDENT['id']}")
    assert text(fact(soup, "Lag now")) == "Lag now 11,111 222 at the opening"


def test_lists_say_it_in_short_and_unfold(api: Api) -> None:
    cause = {"name": "no_members", "short": "No members", "sentence": "nobody for 41m"}
    api.put("billing", status="ERR", incident=INCIDENT, cause=cause)
    for path in (
        "/",
        "/incidents",
        "/clusters/demo",
        "/topics/demo/orders",
        "/groups/demo/billing",
    ):
        summaries = [text(each) for each in page(api, path).select("td summary")]
        assert summaries == ["No members"], path
        assert "nobody for 41m" in text(page(api, path)), path
