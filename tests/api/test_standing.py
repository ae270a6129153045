"""How all groups stand is kept up to date group by group: as if all of them were looked at."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from api.served_api import Api, late
from warren.contracts import ClusterEvent, group_key
from warren_api.group_row import Asked
from warren_api.pages.overview import EVERYTHING, GROUPS_SHOWN, Overview, View, overview
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
