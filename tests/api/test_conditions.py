"""A group's incident with its conditions: one id, one acknowledgement, the root first."""

from typing import Any

import pytest
from api.read_pages import fact, page, text
from api.served_api import NOW, Api
from warren_api.model.incidents import IncidentRecord

MINUTE = 60_000
FRESHNESS = {"type": "warren.group.freshness.changed", "objectives": []}
RETENTION = {"type": "warren.group.retention.changed", "objectives": []}
STUCK = {"name": "stuck_record", "sentence": "orders/0 has stood at offset 0 for 9m"}
ROOT = "late-1"


def condition(api: Api, id_: str, at: int, until: int | None = None, **fields: Any) -> None:
    about = {"incident_id": id_, "opened_at": NOW + at, **fields}
    api.change("billing", "ERR", NOW + at, **about)
    if until is not None:
        end = {**about, "previous": "ERR", "cause": None}
        api.change("billing", "OK", NOW + until, **end)


def known(api: Api) -> list[IncidentRecord]:
    return [*api.model.incidents().all]


@pytest.fixture
def api(api: Api) -> Api:
    """billing was late first, then stuck; now it loses records."""
    condition(api, ROOT, -9 * MINUTE, **FRESHNESS)
    api.put("billing", status="ERR", incident={"id": "stuck-1", "opened_at": NOW - 8 * MINUTE})
    condition(api, "stuck-1", -8 * MINUTE, cause=STUCK)
    lost = "9 unread records deleted (orders/0)"
    condition(api, "lost-1", -7 * MINUTE, explanation=lost, **RETENTION)
    return api


def test_conditions_that_meet_are_one_incident_with_the_id_of_the_first(api: Api) -> None:
    (incident,) = known(api)
    assert incident.ids == [ROOT, "stuck-1", "lost-1"]
    assert [one.type.split(".")[2] for one in incident.conditions] == [
        "status",
        "retention",
        "freshness",
    ]
    assert (incident.opened_at, incident.is_open) == (NOW - 9 * MINUTE, True)


def test_it_lasts_until_the_last_condition_ends(api: Api) -> None:
    api.put("billing", status="OK", evaluated_at=NOW - 5 * MINUTE)
    for id_, at, kind in ((ROOT, -6, FRESHNESS), ("stuck-1", -5, {}), ("lost-1", -4, RETENTION)):
        assert [one.is_open for one in known(api)] == [True]
        end = {"previous": "ERR", "incident_id": id_, **kind}
        api.change("billing", "OK", NOW + at * MINUTE, **end)
    (incident,) = known(api)
    assert (incident.is_open, incident.closed_at) == (False, NOW - 4 * MINUTE)
    condition(api, "late-2", -3 * MINUTE, **FRESHNESS)
    assert [(one.id, one.is_open) for one in known(api)] == [("late-2", True), (ROOT, False)]


def in_short(api: Api, id_: str = ROOT) -> str | None:
    """What list and single answer say alike."""
    incident = api.get(f"/api/v1/incidents/{id_}").json()
    assert incident in api.get("/api/v1/incidents").json()["incidents"]
    said: str | None = incident["short"]
    return said


DOWN = {"name": "no_members", "sentence": "no members for 9m", "short": "No members"}
GONE = {"name": "records_lost", "sentence": "9 are gone", "short": "Lost records"}
STANDS = {"id": "stuck-1", "opened_at": NOW - 8 * MINUTE}


@pytest.mark.parametrize("id_", [ROOT, "stuck-1", "lost-1"])
def test_one_acknowledgement_is_of_all_of_it(api: Api, id_: str) -> None:
    path = f"/api/v1/incidents/{id_}"
    api.request("POST", f"{path}/acknowledge", json={"by": "ada"})
    for each in (ROOT, "stuck-1", "lost-1"):
        said = api.get(f"/api/v1/incidents/{each}").json()["acknowledgement"]
        assert said["by"] == "ada"
        assert api.model.silences.acknowledgement(each) is not None
    assert "ada" in text(page(api, "/incidents").select("tbody tr")[0])
    assert api.get("/api/v1/groups/demo/billing").json()["acknowledgement"]["by"] == "ada"
    api.request("DELETE", f"{path}/acknowledge")
    assert api.get(f"/api/v1/incidents/{ROOT}").json()["acknowledgement"] is None
    assert api.model.silences.acknowledgement("stuck-1") is None


OPEN = {"id": ROOT, "opened_at": NOW - 9 * MINUTE}


def test_a_group_that_goes_on_reading_has_the_incident_of_its_objectives(api: Api) -> None:
    broken = {
        "objective": "late",
        "limit": "max_freshness",
        "status": "WARN",
        "since": NOW,
        "value": 540_000,
        "wanted": 1,
        "sentence": "orders/0 is 9m late",
    }
    about = {"incident_id": "late-7", "type": FRESHNESS["type"], "objectives": [broken]}
    about["explanation"] = broken["sentence"]
    api.change("fine", "WARN", NOW - MINUTE, **about)
    api.put("fine")
    opened = {"id": "late-7", "opened_at": NOW - MINUTE}
    assert api.get("/api/v1/groups/demo/fine").json()["incident"] == opened
    assert "incident late-7" in text(page(api, "/groups/demo/fine").select(".started")[0])
    assert in_short(api, "late-7") == "Late"
    ended = {**about, "previous": "WARN", "objectives": [], "explanation": None}
    api.change("fine", "OK", NOW, **ended)
    assert in_short(api, "late-7") == "Late"


def lost(count: int) -> dict[str, Any]:
    return {
        "objective": "retention",
        "limit": "lost_records",
        "status": "ERR",
        "since": NOW,
        "value": count,
        "wanted": 0,
        "sentence": f"{count} unread records deleted (orders/0)",
    }


def test_what_is_over_says_the_root_and_what_was_lost_in_the_end(api: Api) -> None:
    """The consumer status had no clear cause when it changed, and lost more after that."""
    about = {"incident_id": "down-1", "opened_at": NOW - 9 * MINUTE, "cluster": "eu"}
    loss = {"incident_id": "gone-1", "opened_at": NOW - 8 * MINUTE, "cluster": "eu", **RETENTION}
    api.change("pay", "ERR", NOW - 9 * MINUTE, explanation="No commit for 40s", **about)
    for minute, count in ((8, 74), (7, 4_270)):
        told = {**loss, "objectives": [lost(count)], "explanation": lost(count)["sentence"]}
        previous = "OK" if minute == 8 else "ERR"
        api.change("pay", "ERR", NOW - minute * MINUTE, previous=previous, **told)
    api.change("pay", "OK", NOW - 6 * MINUTE, previous="ERR", **about)
    api.change("pay", "OK", NOW - 5 * MINUTE, previous="ERR", **loss)
    (incident,) = [one for one in known(api) if one.cluster == "eu"]
    assert incident.lost_records == 4_270
    soup = page(api, "/incidents/down-1")
    said = text(soup.main)  # type: ignore[arg-type]
    assert "Explanation: at 06:51 UTC : No commit for 40s." in said
    assert "4270 unread records deleted (orders/0)" in said
    assert text(fact(soup, "Lost")) == "Lost 4,270 records stay lost"
    assert api.get("/api/v1/incidents/gone-1").json()["lost_records"] == 4_270
    assert api.get(f"/api/v1/incidents/{ROOT}").json()["lost_records"] is None
