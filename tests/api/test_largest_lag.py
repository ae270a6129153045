"""The largest lag of an incident: between its changes, too."""

from typing import Any

import pytest
from api.read_pages import fact, page, text
from api.served_api import NOW, Api
from warren.contracts import MINUTE_MS

THIS = NOW - NOW % MINUTE_MS
OPENED = THIS - 20 * MINUTE_MS + 5_000
ENDED = THIS - 10 * MINUTE_MS + 5_000
ID = f"billing-{OPENED}"


def largest(api: Api, id_: str = ID) -> int:
    """What page, list and single answer say alike."""
    (listed,) = (
        one for one in api.get("/api/v1/incidents").json()["incidents"] if one["id"] == id_
    )
    told: int = api.get(f"/api/v1/incidents/{id_}").json()["max_total_lag"]
    assert listed["max_total_lag"] == told
    seen = text(fact(page(api, f"/incidents/{id_}"), "Largest lag seen"))
    assert seen.startswith(f"Largest lag seen {told:,}")
    return told


def opens(api: Api, **fields: Any) -> None:
    api.change("billing", "ERR", OPENED, total_lag=100, **fields)


def ends(api: Api, **fields: Any) -> None:
    about = {"previous": "ERR", "opened_at": OPENED, **fields}
    api.change("billing", "OK", ENDED, total_lag=162, **about)


@pytest.fixture
def over(api: Api) -> Api:
    """Ten minutes, long over; its changes tell of 100 and 162 records."""
    api.put("billing")
    opens(api)
    ends(api)
    return api


@pytest.fixture
def still_open(api: Api) -> Api:
    api.put("billing", status="ERR", total_lag=300, incident={"id": ID, "opened_at": OPENED})
    opens(api)
    return api


def test_the_minutes_between_two_changes_count(over: Api) -> None:
    over.remember("billing", THIS - 15 * MINUTE_MS, lag=700, lag_max=3_214)
    assert largest(over) == 3_214


def test_what_was_before_and_after_it_does_not(over: Api) -> None:
    for minute in (OPENED - MINUTE_MS, ENDED + MINUTE_MS):
        over.remember("billing", minute - minute % MINUTE_MS, lag_max=9_000)
    over.remember("billing", THIS - 15 * MINUTE_MS, lag_max=None)
    over.remember("mailer", THIS - 15 * MINUTE_MS, lag_max=9_000)
    assert largest(over) == 162


def test_of_one_that_is_open_it_does_not_fall(still_open: Api) -> None:
    assert largest(still_open) == 300
    still_open.remember("billing", THIS - 2 * MINUTE_MS, lag_max=943)
    still_open.remember("billing", THIS - MINUTE_MS, lag_max=694)
    assert largest(still_open) == 943
    still_open.put(
        "billing", status="ERR", total_lag=1_000, incident={"id": ID, "opened_at": OPENED}
    )
    assert largest(still_open) == 1_000


def test_it_lasts_as_long_as_the_last_of_its_conditions(over: Api) -> None:
    late = {"type": "warren.group.freshness.changed", "incident_id": "late", "objectives": []}
    over.change("mailer", "ERR", OPENED, **late)
    over.change("mailer", "ERR", OPENED + MINUTE_MS, incident_id="stuck")
    over.change("mailer", "OK", OPENED + 2 * MINUTE_MS, incident_id="stuck")
    over.change("mailer", "OK", ENDED, **late)
    over.remember("mailer", THIS - 11 * MINUTE_MS, lag_max=8_827)
    assert largest(over, "late") == 8_827
