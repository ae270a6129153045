"""`/api/v1/silences` and acknowledgements: asked for, shown, ended, and who may."""

from typing import Any

import pytest
from api.served_api import NOW, Api
from warren.errors import MaybePublished, PublishFailed

SILENCES = "/api/v1/silences"
HOUR = 3_600_000


def ask(api: Api, **fields: Any) -> dict[str, Any]:
    body = {"group": "^billing$", "for_seconds": 7200, "why": "moving", "by": "ada"} | fields
    answer = api.request("POST", SILENCES, json=body)
    assert answer.status_code == 201, answer.text
    silence: dict[str, Any] = answer.json()
    assert api.get(answer.headers["Location"]).json()["id"] == silence["id"]
    return silence


def group(api: Api, name: str = "billing") -> dict[str, Any]:
    listed = {one["group"]: one for one in api.get("/api/v1/groups").json()["groups"]}
    detail = api.get(f"/api/v1/groups/demo/{name}").json()
    for field in ("silence", "acknowledgement", "status"):
        assert detail[field] == listed[name][field]
    found: dict[str, Any] = listed[name]
    return found


def test_a_silence_is_asked_for_listed_shown_and_ended(api: Api) -> None:
    api.put("billing", status="ERR")
    api.put("other", status="ERR")
    assert group(api)["silence"] is None
    silence = ask(api)
    assert silence.pop("groups") == 1
    assert silence == {
        "id": silence["id"],
        "cluster": "",
        "group": "^billing$",
        "owner": "",
        "in_force": True,
        "begins_at": NOW,
        "ends_at": NOW + 2 * HOUR,
        "by": "ada",
        "why": "moving",
        "created_at": NOW,
        "ended_by": None,
    }
    assert api.get(SILENCES).json() == {"silences": [silence]}
    shown = group(api)
    assert shown["status"] == "ERR", "judged all the same"
    assert shown["silence"] == {
        "id": silence["id"],
        "ends_at": NOW + 2 * HOUR,
        "by": "ada",
        "why": "moving",
    }
    assert group(api, "other")["silence"] is None
    api.clock.advance(60)
    ended = api.request("DELETE", f"{SILENCES}/{silence['id']}").json()
    assert (ended["in_force"], ended["ends_at"], ended["ended_by"]) == (
        False,
        NOW + 60_000,
        "somebody",
    )
    assert group(api)["silence"] is None
    assert api.get(f"{SILENCES}?in_force=true").json() == {"silences": []}
    assert api.get(f"{SILENCES}?in_force=false").json() == {"silences": [ended]}
    again = api.request("DELETE", f"{SILENCES}/{silence['id']}")
    assert again.json() == ended, "it was over already"


def test_a_silence_is_over_by_itself_though_lists_are_kept_rendered(api: Api) -> None:
    api.put("billing")
    ask(api, begins_at=NOW + HOUR)
    assert group(api)["silence"] is None
    api.clock.advance(3600)
    assert group(api)["silence"] is not None
    api.clock.advance(7200)
    assert group(api)["silence"] is None


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"group": ""}, "cluster, group or owner is needed"),
        ({"group": "(a"}, "not a regular expression"),
        ({"group": "(?=a)"}, "not a regular expression"),
        ({"group": "a" * 1001}, "group"),
        ({"begins_at": -(10**15)}, "begins_at"),
        ({"begins_at": 10**30}, "begins_at"),
        ({"for_seconds": 0}, "for_seconds"),
        ({"for_seconds": 90 * 86_400 + 1}, "for_seconds"),
        ({"why": ""}, "why"),
        ({"until": 3}, "until"),
    ],
)
def test_what_cannot_be_is_refused(api: Api, fields: dict[str, Any], names: str) -> None:
    body = {"group": "x", "for_seconds": 60, "why": "moving"} | fields
    answer = api.request("POST", SILENCES, json=body)
    assert answer.status_code == 422
    assert names in answer.json()["detail"]
    assert not api.model.silences.all()


def away(*asked: object) -> None:
    raise PublishFailed("home", "home", f"not acknowledged: {asked}")


def test_what_the_home_cluster_does_not_take_is_not_promised() -> None:
    api = Api(asking=away)
    api.put("billing", status="ERR", incident={"id": "i-1", "opened_at": NOW})
    body = {"group": "x", "for_seconds": 60, "why": "moving"}
    for path in (SILENCES, "/api/v1/incidents/i-1/acknowledge"):
        answer = api.request("POST", path, json=body if path == SILENCES else {})
        assert answer.status_code == 503
        assert answer.json()["type"].endswith("not-written")


def hanging(*asked: object) -> None:
    raise MaybePublished("home", "home", f"not known: {asked}")


def test_what_may_be_written_later_is_not_called_unwritten() -> None:
    api = Api(asking=hanging)
    answer = api.request("POST", SILENCES, json={"group": "x", "for_seconds": 60, "why": "moving"})
    assert answer.status_code == 503
    assert answer.json()["type"].endswith("maybe-written")
    assert answer.json()["title"] == "Not known whether written"
    assert "Retry-After" not in answer.headers, "asked again at once there may be two"


def test_an_incident_is_acknowledged_and_that_is_taken_back(api: Api) -> None:
    api.put("billing", status="ERR", incident={"id": "i-1", "opened_at": NOW})
    path = "/api/v1/incidents/i-1"
    assert api.get(path).json()["acknowledgement"] is None
    body = {"by": "grace", "why": "restarting it"}
    answer = api.request("POST", f"{path}/acknowledge", json=body).json()
    said = {**body, "at": NOW}
    assert answer["acknowledgement"] == said
    assert api.get(path).json() == answer
    assert group(api)["acknowledgement"] == said
    assert api.request("DELETE", f"{path}/acknowledge").json()["acknowledgement"] is None
    assert group(api)["acknowledgement"] is None


def test_what_is_over_is_not_acknowledged(api: Api) -> None:
    api.put("billing")
    api.change("billing", "ERR", NOW - 2_000, opened_at=NOW - 2_000)
    api.change("billing", "OK", NOW - 1_000, opened_at=NOW - 2_000)
    answer = api.request("POST", f"/api/v1/incidents/billing-{NOW - 2_000}/acknowledge")
    assert answer.status_code == 409
    assert answer.json()["type"].endswith("incident-over")
