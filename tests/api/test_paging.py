"""Lists of `/api/v1` in pages: a cursor goes on behind the last row that was shown."""

import base64
import json

import pytest
from api.served_api import Api
from warren_api.v1.lists import USUAL_ROWS, Entry, InvalidCursor, ListQuery, largest_first


class Query(ListQuery):
    noun = "names"


def rows(lags: dict[str, int | None]) -> list[Entry[str]]:
    return [Entry((*largest_first(lag), name), name) for name, lag in lags.items()]


def test_pages_in_order_with_unknown_ones_last() -> None:
    lags = {"a": 1, "b": None, "c": 3, "d": 3, "e": 0}
    shown, cursor = list[str](), None
    for _ in range(3):
        page = Query(limit=2, cursor=cursor).page(rows(lags), ())
        assert page.total == 5
        shown, cursor = shown + page.rows, page.next
    assert (shown, cursor) == (["c", "d", "a", "e", "b"], None)


def encoded(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


QUERY = Query()._made_for()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "a",
        "é",
        encoded(),
        encoded("other", 0, 0, "a"),
        encoded(QUERY, "a", "b", None),
        base64.urlsafe_b64encode(b"[" * 4000).decode(),
    ],
)
def test_what_is_no_cursor_of_this_list_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        Query(cursor=cursor).page(rows({"a": 1, "b": 2}), ())


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
