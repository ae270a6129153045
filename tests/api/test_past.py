"""The past: a day of minutes in memory, and what `/api/v1/…/history` answers of it."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from api.served_api import NOW, Api
from warren.contracts import MINUTE_MS
from warren.errors import ContractViolation
from warren_api.model.past import CLUSTER, DAY, GROUP, TOPIC, Minutes

THIS = NOW - NOW % MINUTE_MS
HOUR = 60 * MINUTE_MS


def history(api: Api, path: str = "groups/demo/billing", **query: int) -> dict[str, Any]:
    answer = api.get(f"/api/v1/{path}/history", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert {len(column) for column in found.values() if isinstance(column, list) and column} == {
        len(found["at"])
    }
    return found


@pytest.fixture
def told(api: Api) -> Api:
    api.put("billing")
    for n in range(1, 61):
        api.remember("billing", THIS - n * MINUTE_MS, lag=n, late_ms=n * 1000)
    return api


def test_the_last_hour_minute_by_minute(told: Api) -> None:
    found = history(told)
    assert found["at"] == list(range(THIS - HOUR, THIS, MINUTE_MS))
    assert found["lag"] == list(range(60, 0, -1))
    assert found["late_ms"] == [n * 1000 for n in range(60, 0, -1)]
    assert found["ok_ms"] == [60_000] * 60
    assert (found["produced"], found["consumed"]) == ([120] * 60, [118] * 60)
    assert found["time_to_loss_ms"] == [None] * 60


def test_events_about_one_minute_add_up(api: Api) -> None:
    api.put("billing")
    api.remember("billing", THIS - MINUTE_MS, status_ms={"OK": 20_000}, lag=3, late_ms=4_000)
    api.remember("billing", THIS - MINUTE_MS, status_ms={"ERR": 40_000}, lag=7, late_ms=None)
    found = history(api, **{"from": THIS - MINUTE_MS, "to": THIS})
    assert (found["ok_ms"], found["err_ms"], found["warn_ms"]) == ([20_000], [40_000], [0])
    assert (found["lag"], found["late_ms"], found["consumed"]) == ([7], [4_000], [236])


def test_a_topic_as_its_groups_saw_it(told: Api) -> None:
    told.put("mailer")
    told.remember("mailer", THIS - MINUTE_MS, lag=80, produced=119, consumed=50)
    found = history(told, "topics/demo/orders")
    assert found["lag_max"][-2:] == [2, 80]
    assert found["produced"][-1] == 120, "both have seen the same records"
    assert found["consumed"][-1] == 168


@pytest.mark.parametrize(
    "query",
    [
        {"from": NOW, "to": NOW},
        {"from": NOW, "to": NOW - 1},
        {"step": 1_000},
        {"step": 90_000},
        {"step": MINUTE_MS, "from": NOW - 30 * 24 * HOUR},
        {"from": -1},
        {"to": 2**70},
        {"form": 1},
    ],
)
def test_what_cannot_be_asked(told: Api, query: dict[str, int]) -> None:
    answer = told.get("/api/v1/groups/demo/billing/history", params=query)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"].endswith("/invalid-request")


@pytest.mark.parametrize("path", ["groups/demo/gone", "topics/demo/gone", "clusters/gone"])
def test_of_what_nobody_knows(told: Api, path: str) -> None:
    assert told.get(f"/api/v1/{path}/history").status_code == 404


def test_a_day_is_kept_in_forty_kilobytes() -> None:
    minutes = Minutes(GROUP)
    assert DAY * GROUP.itemsize <= 40 * 1024
    for n in range(DAY + 100):
        minutes.add(THIS + n * MINUTE_MS, {"lag": n, "ok_ms": 60_000, "time_to_loss_ms": 10**15})
    newest = THIS + (DAY + 99) * MINUTE_MS
    found = minutes.columns(newest - 2 * DAY * MINUTE_MS, newest + MINUTE_MS, MINUTE_MS)
    assert found["lag"][-DAY:] == list(range(100, DAY + 100))
    assert set(found["lag"][:-DAY]) == {None}
    minutes.add(THIS, {"lag": 1})
    assert minutes.columns(THIS, THIS + MINUTE_MS, MINUTE_MS)["lag"] == [None]


@pytest.mark.parametrize("kind", [GROUP, TOPIC, CLUSTER])
def test_years_cost_no_more_than_the_day_that_is_held(kind: np.dtype[np.void]) -> None:
    minutes, day = Minutes(kind), DAY * MINUTE_MS
    for n in range(DAY):
        minutes.add(THIS - n * MINUTE_MS, {"consumed": 2})
    start, end = THIS - THIS % day - 1_400 * day, THIS - THIS % day + 100 * day
    tracemalloc.start()
    found = minutes.columns(start, end, day)["consumed"]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000_000
    assert len(found) == 1_500
    held = THIS % day // MINUTE_MS + 1
    assert found[1_398:1_402] == [None, 2 * (DAY - held) or None, 2 * held, None]
    assert sum(each is not None for each in found) <= 2


@pytest.mark.parametrize("from_", [-3 * DAY, -DAY - 7, -DAY, -8, 0, 1, 5])
def test_steps_at_the_edges_of_what_is_held(from_: int) -> None:
    minutes = Minutes(TOPIC)
    for n in range(-DAY - 10, 1):
        minutes.add(THIS + n * MINUTE_MS, {"consumed": n})
    start = THIS + from_ * MINUTE_MS
    found = minutes.columns(start, start + 70 * MINUTE_MS, 7 * MINUTE_MS)["consumed"]
    steps = [[n for n in range(n, n + 7) if -DAY < n <= 0] for n in range(from_, from_ + 70, 7)]
    assert found == [sum(step) if step else None for step in steps]


def test_what_is_no_minute_of_the_group_is_refused(api: Api) -> None:
    with pytest.raises(ContractViolation):
        api.model.past.apply(b"demo|billing", b"{}")
    with pytest.raises(ContractViolation):
        api.model.past.apply(b"demo|billing", None)


def test_what_has_ended_long_ago_is_forgotten(told: Api) -> None:
    told.model.past.forget_before(NOW - HOUR)
    assert history(told)["lag"][-1] == 1
    told.model.past.forget_before(NOW + HOUR)
    assert history(told)["lag"][-1] is None
