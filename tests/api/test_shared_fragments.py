"""Tabs that show the same are given the same, and no older than it may be."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import httpx
import pytest
from api.scraped import fill, labels, scrape
from api.served_api import NOW, Api, late
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from warren.clock import ManualClock
from warren.contracts import group_key
from warren_api.http.callers import Reader, reads
from warren_api.http.pages_kept import KEPT, Revalidation, SharedFragments


class Counted:
    """An application that says how often it was asked, behind what is tested."""

    def __init__(self) -> None:
        self.clock, self.state, self.made = ManualClock(), 0, 0
        self.takes, self.status = 0.0, HTTPStatus.OK
        app = Starlette(routes=[Route("/fragments/{name}", self._answer)])
        app.add_middleware(Revalidation)
        app.add_middleware(SharedFragments, state=lambda: self.state, clock=self.clock)
        self._app = app

    async def _answer(self, request: Request) -> Response:
        self.made += 1
        self.clock.advance(self.takes)
        await asyncio.sleep(0)
        return HTMLResponse(f"{request.url.path} {self.made}", self.status)

    def answers(
        self, count: int, name: str = "groups", known: str = '"old"'
    ) -> list[httpx.Response]:
        """Of so many who ask at once."""

        async def ask() -> list[httpx.Response]:
            transport = httpx.ASGITransport(self._app)
            headers = {"If-None-Match": known} if known else {}
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as one:
                asked = (one.get(f"/fragments/{name}", headers=headers) for _ in range(count))
                return await asyncio.gather(*asked)

        return asyncio.run(ask())

    def ask(self, name: str = "groups", known: str = '"old"') -> str:
        return self.answers(1, name, known)[0].text


def test_who_may_change_things_is_not_given_what_a_reader_was(counted: Counted) -> None:
    """What may be pressed differs: a wall board must not take an operator's buttons away."""
    admin = counted.ask()
    reads(Reader(login="/login"))
    try:
        assert counted.ask() != admin
        assert counted.ask() == "/fragments/groups 2"
    finally:
        reads(Reader())
    assert counted.ask() == admin


@pytest.fixture
def counted() -> Counted:
    return Counted()


def test_tabs_are_given_what_was_made_for_one_of_them(counted: Counted) -> None:
    assert {counted.ask() for _ in range(50)} == {"/fragments/groups 1"}
    assert counted.ask(name="incidents") == "/fragments/incidents 2", "another page"
    assert counted.ask(known="") == "/fragments/groups 3", "without a tag"


def test_a_tab_that_has_it_is_told_so(counted: Counted) -> None:
    (first,) = counted.answers(1)
    tag = first.headers["ETag"]
    (again,) = counted.answers(1, known=tag)
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert counted.made == 1


def test_a_changed_state_is_shown_within_a_second(counted: Counted) -> None:
    counted.ask()
    counted.state += 1
    counted.clock.advance(0.9)
    assert counted.ask().endswith(" 1"), "a storm of changes does not make it again each time"
    counted.clock.advance(0.2)
    assert counted.ask().endswith(" 2")


@pytest.mark.parametrize(("takes", "seconds"), [(0.0, 2.0), (0.003, 3.0), (9.0, 10.0)])
def test_figures_are_older_the_longer_they_take(
    counted: Counted, takes: float, seconds: float
) -> None:
    counted.takes = takes
    counted.ask()
    counted.clock.advance(seconds - 0.1)
    assert counted.ask().endswith(" 1")
    counted.clock.advance(0.2)
    assert counted.ask().endswith(" 2")


def test_those_who_ask_at_once_wait_for_one(counted: Counted) -> None:
    assert {answer.text for answer in counted.answers(30)} == {"/fragments/groups 1"}


def test_what_is_no_page_is_not_kept(counted: Counted) -> None:
    counted.status = HTTPStatus.NOT_FOUND
    assert counted.ask() != counted.ask()


def test_only_some_are_kept(counted: Counted) -> None:
    for number in range(KEPT + 1):
        counted.ask(name=str(number))
    assert counted.ask(name=str(KEPT)).endswith(f" {KEPT + 1}")
    assert counted.ask(name="0").endswith(f" {KEPT + 2}"), "the oldest was forgotten"


def test_compressed_and_plain_are_kept_apart_and_counted_alike(api: Api) -> None:
    path, known = "/fragments/groups", {"If-None-Match": '"old"'}
    fill(api)
    before = _counted(api, path)
    answers = [
        api.get(path, headers=known | {"Accept-Encoding": encoding})
        for encoding in ("gzip", "identity", "gzip", "identity")
    ]
    assert [a.headers.get("Content-Encoding") for a in answers] == ["gzip", None] * 2
    assert len({answer.text for answer in answers}) == 1
    assert all("content-security-policy" in answer.headers for answer in answers)
    assert _counted(api, path) == before + 4


def _counted(api: Api, route: str) -> float:
    counted = scrape(api).get("warren_api_requests_total", {})
    return counted.get(labels(route=route, method="GET", code="200"), 0)


def test_what_people_see_as_a_change_is_one(api: Api) -> None:
    fill(api)
    states = [api.context.shown_state()]

    def is_another() -> bool:
        states.append(api.context.shown_state())
        return states[-1] != states[-2]

    api.put("fine", total_lag=1)
    assert is_another(), "a group has come"
    api.put("fine", total_lag=77)
    assert not is_another(), "a figure"
    api.put("fine", status="WARN")
    assert is_another()
    api.put("fine", status="WARN", incident={"id": "w", "opened_at": NOW})
    assert is_another()
    api.change("fine", "WARN", NOW)
    assert is_another()
    wanted = {"group": "fine", "for_seconds": 60, "why": "a test"}
    assert api.request("POST", "/api/v1/silences", json=wanted).status_code == 201
    assert is_another()
    api.measure("fine", late(60_000, time_to_loss_ms=59 * 60_000))
    assert not is_another(), "half of its retention is left"
    api.measure("fine", late(3_600_000, time_to_loss_ms=60_000))
    assert is_another(), "it is about to lose data"
    api.measure("fine", late(3_600_000, lost_records=3))
    assert is_another(), "it loses data"
    api.model.apply(group_key("demo", "fine"), None)
    assert is_another()


def test_what_nobody_knows_any_more_is_a_change_as_well(api: Api) -> None:
    api.put("early")
    api.put("late", evaluated_at=NOW + 5_000)
    believed, seconds = [api.context.shown_state()], api.context.unknown_after_ms / 1000
    api.clock.advance(seconds)
    assert api.context.shown_state() == believed[0]
    for _ in range(2):  # one of them, then the other
        api.clock.advance(4)
        believed.append(api.context.shown_state())
    assert len(set(believed)) == 3
    api.put("late", evaluated_at=NOW + 40_000)
    assert api.context.shown_state() not in believed, "it was judged again"
