from __future__ import annotations

import base64
import json
import random

import pytest
from api.served_api import Api
from warren_api.v1.lists import USUAL_ROWS, Entry, InvalidCursor, Paging, largest_first


def entries(lags: dict[str, int | None]) -> list[Entry[str]]:
    return [Entry((name,), (*largest_first(lag), name), name) for name, lag in lags.items()]


def all_pages(
    paging: Paging, lags: dict[str, int | None], limit: int, change: object = None
) -> list[str]:
    shown: list[str] = []
    cursor = None
    while True:
        page = paging.page(entries(lags), query="q", limit=limit, cursor=cursor)
        assert len(page.rows) <= limit
        shown += page.rows
        if page.next is None:
            return shown
        cursor = page.next
        if callable(change):
            change()


def test_pages_in_order_with_unknown_ones_last() -> None:
    lags = {"a": 1, "b": None, "c": 3, "d": 3, "e": 0}
    assert all_pages(Paging(), lags, 2) == ["c", "d", "a", "e", "b"]


@pytest.mark.parametrize("seed", range(5))
def test_whatever_moves_each_row_is_shown_once(seed: int) -> None:
    lottery = random.Random(seed)
    lags: dict[str, int | None] = {f"g{n}": lottery.randrange(100) for n in range(40)}
    stay = set(lags) - {"g3"}

    def change() -> None:
        for name in list(lags):
            lags[name] = lottery.randrange(100)
        lags.pop("g3", None)
        lags[f"new{len(lags)}"] = 50

    shown = all_pages(Paging(), lags, 7, change)
    assert len(shown) == len(set(shown))
    assert set(shown) - {"g3"} == stay


def test_a_cursor_goes_on_elsewhere_behind_the_last_row() -> None:
    lags: dict[str, int | None] = {name: 9 - n for n, name in enumerate("abcdefgh")}
    first = Paging().page(entries(lags), query="q", limit=3, cursor=None)
    elsewhere = Paging()
    second = elsewhere.page(entries(lags), query="q", limit=3, cursor=first.next)
    assert (first.rows, second.rows, second.total) == (list("abc"), list("def"), 8)
    lags["h"] = 99
    last = elsewhere.page(entries(lags), query="q", limit=3, cursor=second.next)
    assert (last.rows, last.next) == (["g", "h"], None), "there too, the order is fixed again"


def test_orders_are_forgotten_not_hoarded() -> None:
    paging = Paging()
    lags: dict[str, int | None] = {"a": 3, "b": 2, "c": 1}
    first = paging.page(entries(lags), query="q", limit=1, cursor=None)
    for _ in range(200):
        paging.page(entries(lags), query="q", limit=1, cursor=None)
    assert len(paging._orders) < 100
    assert paging.page(entries(lags), query="q", limit=5, cursor=first.next).rows == ["b", "c"]


def encoded(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "a",
        "é",
        encoded(),
        encoded("q"),
        encoded("other", "x", 0, [0, 0, "a"]),
        encoded("q", "x", -1, [0, 0, "a"]),
        encoded("q", "x", 0, ["a", "b", None]),
        encoded("q", ["x"], 0, [0]),
        base64.urlsafe_b64encode(b"[" * 5000).decode(),
    ],
)
def test_what_is_no_cursor_of_this_list_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        Paging().page(entries({"a": 1, "b": 2}), query="q", limit=1, cursor=cursor)


def test_a_list_that_a_client_has_is_not_sent_again(api: Api) -> None:
    api.put("billing")
    first = api.get("/api/v1/groups")
    known = {"If-None-Match": first.headers["ETag"]}
    again = api.get("/api/v1/groups", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    api.put("billing", status="ERR")
    changed = api.get("/api/v1/groups", headers=known)
    assert (changed.status_code, changed.json()["groups"][0]["status"]) == (200, "ERR")


def test_a_page_has_a_hundred_rows_where_nobody_asks_for_more(api: Api) -> None:
    for number in range(USUAL_ROWS + 1):
        api.put(f"g{number}")
    first = api.get("/api/v1/groups").json()
    assert (len(first["groups"]), first["total"]) == (USUAL_ROWS, USUAL_ROWS + 1)
    rest = api.get(f"/api/v1/groups?cursor={first['next']}").json()
    assert (len(rest["groups"]), rest["next"]) == (1, None)
