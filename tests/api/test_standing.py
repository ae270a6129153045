"""How all groups stand is kept up to date group by group: as if all of them were looked at."""

from __future__ import annotations

import random
import sys
import threading
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from api.served_api import NOW, Api, late, paced
from fastapi import Request
from fastapi.routing import APIRoute
from warren.contracts import MINUTE_MS, Acknowledgement, ClusterEvent, group_key
from warren_api.group_row import Asked
from warren_api.pages.done import Done
from warren_api.pages.overview import EVERYTHING, GROUPS_SHOWN, Overview, View, overview
from warren_api.pages.routes import router
from warren_core.objectives.limits import ObjectiveBook

FRAGMENT = "/fragments/groups"


def asked(api: Api) -> Asked:
    return Asked.of(api.context, ObjectiveBook(()))


def shown(api: Api, **named: Any) -> Overview:
    view = View(**{"q": EVERYTHING, **named})
    return overview(api.model, api.context.standing(), asked(api), view)


def require_that_it_is_so(api: Api) -> None:
    """All of them looked at, one after the other."""
    about, found = asked(api), shown(api)
    rows = [about.row(view) for view in api.model.groups()]
    rows.sort(key=lambda row: row.rank)
    totals = Counter(row.verdict.status for row in rows)
    assert {name: count for name, count in found.totals.items() if count} == totals
    assert found.tabs == dict.fromkeys(found.tabs, 0) | Counter(row.kind for row in rows)
    known = [row for row in rows if row.verdict.is_known]
    assert found.standings.losing == sum(row.view.lost_records > 0 for row in known)
    assert found.standings.losing + found.standings.endangered == sum(
        row.view.is_losing for row in known
    )
    assert found.matching == len(rows)
    bad = [row.view for row in rows if row.view.is_troubled or not row.verdict.is_known]
    assert [row.view for row in found.rows][: len(bad)] == bad[:GROUPS_SHOWN]
    everything = [
        row.view.group for page in range(1, found.pages + 1) for row in shown(api, page=page).rows
    ]
    assert sorted(everything) == sorted(row.view.group for row in rows)
    upside_down = [row.view.group for row in shown(api, order="desc").rows]
    assert upside_down == everything[::-1][:GROUPS_SHOWN]


def step(api: Api, dice: random.Random) -> None:
    group, now = f"g{dice.randrange(70)}", api.clock.now_ms()
    cluster = "eu" if int(group[1:]) % 5 == 0 else "demo"
    status = dice.choice(["OK", "OK", "OK", "WARN", "ERR"])
    opened = {"id": group, "opened_at": now} if status != "OK" else None
    figures = {"total_lag": dice.randrange(1000), "evaluated_at": now}
    losing = dice.choice([{}, {}, {"lost_records": 4}, {"time_to_loss_ms": 60_000}])
    moves: list[Callable[[], object]] = [
        lambda: api.put(group, cluster, status=status, incident=opened, **figures),
        lambda: api.put(group, cluster, **figures),
        lambda: api.measure(group, late(3_600_000, **losing)),
        lambda: api.describe(group, cluster),
        lambda: api.change(group, status, now, cluster=cluster),
        lambda: api.model.apply(group_key(cluster, group), None),
        lambda: api.clock.advance(dice.choice([1, 5, 20])),
        lambda: tell(api, dice.choice(["ok", "unreachable"])),
    ]
    dice.choices(moves, [8, 8, 4, 1, 1, 1, 3, 1])[0]()


def tell(api: Api, state: Any) -> None:
    now = api.clock.now_ms()
    event = ClusterEvent(
        cluster="eu", collector="c", observed_at=now, state=state, since=now, problem=""
    )
    api.model.apply_cluster(group_key("eu", "c"), event.to_bytes())


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_it_is_what_all_of_them_say(seed: int) -> None:
    api, dice = Api(clusters=("demo", "eu")), random.Random(seed)
    for n in range(400):
        step(api, dice)
        if n % 10 == 0:
            require_that_it_is_so(api)
    api.model.keep_only([("demo", f"g{n}") for n in range(0, 70, 2)], [])
    require_that_it_is_so(api)


def test_who_keeps_up_is_shown_by_lag_as_it_was_lately(api: Api) -> None:
    for n in range(3):
        api.put(f"g{n}", total_lag=n)

    def order() -> list[str]:
        return [row.view.group for row in shown(api).rows]

    assert order() == ["g2", "g1", "g0"]
    api.put("g0", total_lag=9, evaluated_at=NOW + 1)
    assert order() == ["g2", "g1", "g0"], "a figure"
    api.clock.advance(30)
    assert order() == ["g0", "g2", "g1"]
    api.put("g3", total_lag=5, evaluated_at=NOW + 30_000)
    assert order() == ["g0", "g3", "g2", "g1"], "at once where one has come"


def calls(of: Callable[[], object]) -> int:
    """Of Python's functions, in this thread and those that it begins."""
    count = 0

    def profile(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        of()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return count


def test_a_fragment_costs_no_more_where_there_are_more_groups() -> None:
    def cost(groups: int) -> int:
        api = Api()
        for n in range(groups):
            bad = {"status": "ERR", "incident": {"id": f"i{n}", "opened_at": NOW}} if n < 60 else {}
            api.put(f"g{n}", **bad)
        api.get(FRAGMENT)
        for n in range(groups // 10):
            api.put(f"g{n * 10}", evaluated_at=NOW + 1)
        api.get(FRAGMENT)
        api.put("g100", evaluated_at=NOW + 2)
        return calls(lambda: api.get(FRAGMENT))

    assert cost(1_000) < 1.1 * cost(200)


@pytest.mark.parametrize("seed", range(2))
def test_rows_that_are_kept_are_those_that_would_be_made(seed: int) -> None:
    """By pages over the same groups that have kept none."""
    api, dice = Api(clusters=("demo", "eu")), random.Random(seed)
    say: list[Callable[[], object]] = [
        lambda: None,
        lambda: api.remember("g1", api.clock.now_ms() // MINUTE_MS * MINUTE_MS - MINUTE_MS),
        lambda: _silence(api, f"^g{dice.randrange(70)}$"),
        lambda: _acknowledge(api, f"g{dice.randrange(70)}"),
        lambda: api.measure("g2", paced(20.0, dice.randrange(30))),
    ]
    for n in range(240):
        step(api, dice)
        dice.choice(say)()
        if n % 24 == 0:
            assert api.get(FRAGMENT).text == made_anew(api)


def made_anew(api: Api) -> str:
    pages = router(api.context).routes
    endpoint = next(r.endpoint for r in pages if isinstance(r, APIRoute) and r.path == FRAGMENT)
    asked_for = Request({"type": "http", "path": FRAGMENT})
    return bytes(endpoint(asked_for, View(), Done()).body).decode()


def _silence(api: Api, group: str) -> None:
    wanted = {"group": group, "for_seconds": 30, "why": "a test"}
    assert api.request("POST", "/api/v1/silences", json=wanted).status_code == 201


def _acknowledge(api: Api, group: str) -> None:
    """Of its open incident, if it has one."""
    said = Acknowledgement(
        incident_id=group, cluster="demo", group=group, by="me", why="", at=api.clock.now_ms()
    )
    api.model.silences.apply_acknowledgement(group.encode(), said.to_bytes())
