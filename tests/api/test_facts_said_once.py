"""What is said later: with the figures of now, else with the time; and each fact once on a page."""

from typing import Any

import pytest
from api.read_pages import cells, page, row_of, text
from api.served_api import NOW, Api, late, topic
from warren.settings import ClusterSettings, ObjectiveSettings, Settings

OPENED = NOW - 41 * 60_000
ID = f"billing-{OPENED}"
INCIDENT = {"id": ID, "opened_at": OPENED}
RETENTION = {"type": "warren.group.retention.changed", "incident_id": "loss-1"}
FRESHNESS = {"type": "warren.group.freshness.changed", "incident_id": "late-1"}
LOST = {
    "objective": "retention",
    "limit": "lost_records",
    "status": "ERR",
    "since": OPENED,
    "value": 340,
    "wanted": 0,
    "sentence": "340 unread records deleted (orders/0)",
}
NEAR = {
    **LOST,
    "limit": "min_time_to_loss",
    "status": "WARN",
    "wanted": 3_600_000,
    "sentence": "orders/0 may lose unread records now (limit 1h)",
}
LATE = {
    **LOST,
    "objective": "on-time",
    "limit": "max_freshness",
    "wanted": 300_000,
    "sentence": "orders/1 is at least 11m late (limit 5m)",
}


def cause(name: str, sentence: str) -> dict[str, str]:
    return {"name": name, "sentence": sentence, "action": "do <this>"}


@pytest.fixture
def api() -> Api:
    """billing is ERR since 41 minutes, told with 80 records; now it is 42,000 behind."""
    clusters = {"demo": ClusterSettings(bootstrap="broker:9092")}
    objectives = [ObjectiveSettings(name="on-time", max_freshness=300)]
    api = Api(settings=Settings(clusters=clusters, objectives=objectives))
    then = "orders/0 STOP: no commit for 11s; 80 records behind"
    api.change("billing", "ERR", OPENED, explanation=then, total_lag=80)
    explained = "orders/0 STOP: no commit for 41m; 42,000 records behind"
    topics = {"orders": topic({"status": "STOP", "lag": 42_000})}
    api.put(
        "billing",
        status="ERR",
        incident=INCIDENT,
        explanation=explained,
        total_lag=42_000,
        topics=topics,
    )
    return api


def listed(api: Api) -> str:
    (row,) = page(api, "/incidents").select("tbody tr")
    return cells(row)["Trouble"]


def test_what_is_over_or_no_longer_believed_carries_its_time(api: Api) -> None:
    api.clock.advance(600)
    assert (
        listed(api)
        == "Stopped at 07:00 UTC : orders/0 STOP: no commit for 41m; 42,000 records behind"
    )
    assert api.get(f"/api/v1/incidents/{ID}").json()["now"]["said_at"] == NOW
    api.put("billing", evaluated_at=NOW + 600_000)
    api.change("billing", "OK", NOW + 600_000, previous="ERR", opened_at=OPENED)
    assert (
        listed(api) == "Not OK at 06:19 UTC : orders/0 STOP: no commit for 11s; 80 records behind"
    )
    assert api.get(f"/api/v1/incidents/{ID}").json()["now"] is None


def test_losses_one_after_the_other_add_up(api: Api) -> None:
    """Each is told with how many it was in the end; between them the group only nears another."""

    def told(minute: int, previous: str, status: str, *counts: int, of: str = "loss-1") -> None:
        objectives = [{**LOST, "value": count} for count in counts] + [NEAR]
        at = OPENED + minute * 60_000
        about = {**RETENTION, "incident_id": of, "previous": previous, "opened_at": OPENED}
        api.change("billing", status, at, **about, objectives=objectives)

    def lost() -> int:
        found = api.get("/api/v1/incidents/loss-1").json()["lost_records"]
        assert isinstance(found, int)
        return found

    told(0, "OK", "ERR", 30)
    told(1, "ERR", "ERR", 836)
    assert lost() == 836
    told(2, "ERR", "WARN")
    told(3, "WARN", "ERR", 32)
    assert lost() == 868
    told(4, "ERR", "ERR", 2146)
    assert lost() == 2982
    api.measure("billing", late(2_700_000, lost_records=2_200, time_to_loss_ms=0))
    assert lost() == 836 + 2200, "as seen by now"


@pytest.mark.parametrize("has_status", [True, False])
def test_what_to_do_of_a_loss_is_said_where_there_is_no_cause(api: Api, has_status: bool) -> None:
    """A group that reads on and one that has stopped for a reason that nobody knows yet."""
    if not has_status:
        api.put("billing")
    api.change("billing", "WARN", OPENED, **RETENTION, objectives=[{**NEAR, "topic": "orders"}])
    api.measure("billing", late(2_700_000, time_to_loss_ms=60_000))
    step = "Raise retention.ms of orders until the group has caught up"
    assert f"What to do: {step}." in text(page(api, "/groups/demo/billing").main)  # type: ignore[arg-type]
    assert step in cells(row_of(api, "billing"))["Trouble"]
    assert api.get("/api/v1/groups/demo/billing").json()["action"] == step
    (shown,) = api.get("/api/v1/incidents", params={"open": True}).json()["incidents"]
    assert shown["now"]["action"] == step


def test_lost_records_are_said_once_with_one_figure(api: Api) -> None:
    """The evaluator judged with 340, the objective was told with 340, and it is 60 by now."""
    told = cause("records_lost", LOST["sentence"])  # type: ignore[arg-type]
    api.put("billing", status="ERR", incident=INCIDENT, cause=told)
    then = f"{LOST['sentence']}; {NEAR['sentence']}"
    api.change("billing", "ERR", OPENED, **RETENTION, objectives=[LOST, NEAR], explanation=then)
    api.measure("billing", late(2_700_000, lost_records=60, time_to_loss_ms=0, retention_left=0.0))
    soup = page(api, "/groups/demo/billing")
    banners = [text(why) for why in soup.select(".why")]
    assert banners == [
        "Cause: 60 unread records deleted (orders/0). What to do: do <this>.",
    ]
    (history,) = soup.select(".history")
    history.decompose()  # it has the time of each of its lines
    said = text(soup.main)  # type: ignore[arg-type]
    assert said.count("records deleted") == 2, "once above, and in the row of its incident"
    assert "340" not in said
    assert "0%" not in said
    assert "60 unread records" in cells(row_of(api, "billing"))["Trouble"]
    timeline = [text(one) for one in page(api, "/incidents/loss-1").select(".timeline > li")]
    assert [one.count("340 unread records") for one in timeline if "340" in one] == [1]
    incident = api.get("/api/v1/incidents/loss-1").json()
    assert incident["lost_records"] == 340, "what was lost stays lost"
    api.measure("billing", late(2_700_000, lost_records=900, time_to_loss_ms=0))
    assert api.get("/api/v1/incidents/loss-1").json()["lost_records"] == 900
    api.measure("billing", late(2_700_000, lost_records=60, time_to_loss_ms=0, retention_left=0.0))
    group = api.get("/api/v1/groups/demo/billing").json()
    assert group["cause"]["sentence"].startswith("60 unread records")


@pytest.mark.parametrize(
    ("measured", "advanced", "said"),
    [
        (late(1_380_000), 0, "orders/0 is at least 23m late (limit 5m)"),
        (late(60_000), 0, "at 06:19 UTC : orders/1 is at least 11m late (limit 5m)"),
        (None, 0, "at 06:19 UTC : orders/1 is at least 11m late (limit 5m)"),
        (late(1_380_000), 90, "at 06:19 UTC : orders/1 is at least 11m late (limit 5m)"),
    ],
)
def test_an_objective_is_told_of_as_it_is_now(
    api: Api, measured: dict[str, Any] | None, advanced: int, said: str
) -> None:
    api.change("fine", "ERR", OPENED, **FRESHNESS, objectives=[LATE])
    api.put("fine", evaluated_at=NOW + 1000 * advanced)
    if measured is not None:
        api.measure("fine", measured)
    api.clock.advance(advanced)
    (banner,) = page(api, "/groups/demo/fine").select(".why")
    assert text(banner) == f"Objective on-time : {said}."
    (brief,) = row_of(api, "fine").select("summary")
    what = "OK at 07:00 UTC , was late" if measured == late(60_000) else "Late"
    assert text(brief) == what
    row, *_ = [each for each in page(api, "/incidents").select("tbody tr") if "fine" in text(each)]
    assert cells(row)["Trouble"] == f"{what} {said}"
    (why,) = page(api, "/incidents/late-1").select(".why")
    assert text(why) == f"Objective on-time : {said}."
    (broken,) = api.get("/api/v1/groups/demo/fine").json()["broken_objectives"]
    is_then = said.startswith("at ")
    assert broken["told_at"] == (OPENED if is_then else None)
    assert broken["sentence"] == (LATE["sentence"] if is_then else said)
