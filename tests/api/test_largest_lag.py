"""The largest lag of an incident."""

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


def test_it_is_that_of_its_changes_and_of_now_while_it_is_open(api: Api) -> None:
    incident = {"id": ID, "opened_at": OPENED}
    api.change("billing", "ERR", OPENED, total_lag=100)
    api.put("billing", status="ERR", total_lag=300, incident=incident)
    assert largest(api) == 300
    api.change("billing", "OK", ENDED, total_lag=162, previous="ERR", opened_at=OPENED)
    assert largest(api) == 162, "as webhooks and reports have it"
