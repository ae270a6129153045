"""`/api/v1`: clusters, topics, incidents and problems."""

from typing import Any

import pytest
from api.served_api import NOW, Api, late, paced, topic

MINUTE = 60_000


def test_clusters_are_those_of_the_settings_and_of_events() -> None:
    api = Api(clusters=("demo", "empty"))
    api.put("a", status="ERR", total_lag=7)
    api.put("b", cluster="eu")
    api.measure("a", late(9, lost_records=3))
    api.describe("s", protocol="share")
    body = api.get("/api/v1/clusters").json()
    demo, empty, eu = body["clusters"]
    assert demo == {
        "cluster": "demo",
        "configured": True,
        "state": "unknown",
        "state_since": None,
        "problem": None,
        "groups": 1,
        "status_counts": {"ERR": 1, "WARN": 0, "UNKNOWN": 0, "OK": 0},
        "losing": 1,
        "endangered": 0,
        "not_judged": 1,
        "topics": 1,
        "partitions": 2,
        "total_lag": 7,
        "total_lag_at_least": None,
        "evaluated_at": NOW,
    }
    assert (empty["cluster"], empty["groups"], empty["evaluated_at"]) == ("empty", 0, None)
    assert (eu["cluster"], eu["configured"]) == ("eu", False)
    assert api.get("/api/v1/clusters/eu").json() == eu
    missing = api.get("/api/v1/clusters/nowhere")
    assert (missing.status_code, missing.json()["title"]) == (404, "Cluster not found")


@pytest.fixture
def topics(api: Api) -> Api:
    """Two groups on orders, one of them also on mails."""
    for group, speed in (("fast", 20), ("slow", 5)):
        row = {"committed": speed * 10, "log_end": 200, "lag": 200 - speed * 10}
        columns = {"orders": topic(row)}
        if group == "slow":
            columns["mails"] = topic({}, {})
        api.put(group, topics=columns)
        api.measure(group, paced(20.0, speed))
    return api


def test_a_topic_with_its_rates_and_groups(topics: Api) -> None:
    body = topics.get("/api/v1/topics/demo/orders").json()
    groups = body.pop("groups")
    assert body == {
        "cluster": "demo",
        "topic": "orders",
        "partition_count": 1,
        "group_count": 2,
        "produce_rate": 20.0,
        "consume_rate": 25.0,
        "max_lag": 150,
        "partitions": [{"partition": 0, "log_start": 0, "log_end": 200}],
    }
    told = [(each["group"], each["lag"], each["consume_rate"], each["status"]) for each in groups]
    assert told == [("fast", 0, 20.0, "OK"), ("slow", 150, 5.0, "OK")]
    missing = topics.get("/api/v1/topics/demo/nothing")
    assert (missing.status_code, missing.json()["title"]) == (404, "Topic not found")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["mails", "orders"]),
        ("sort=lag", ["orders", "mails"]),
        ("sort=produce_rate", ["orders", "mails"]),
        ("regex=^m", ["mails"]),
        ("limit=1", ["mails"]),
    ],
)
def test_lists_of_topics(topics: Api, query: str, expected: list[str]) -> None:
    body = topics.get(f"/api/v1/topics?{query}").json()
    assert [row["topic"] for row in body["topics"]] == expected
    if query == "limit=1":
        rest = topics.get(f"/api/v1/topics?limit=1&cursor={body['next']}").json()
        assert ([row["topic"] for row in rest["topics"]], rest["next"]) == (["orders"], None)


@pytest.fixture
def troubled(api: Api) -> Api:
    """g had an incident and has another; h's was never told; k is gone."""
    past, present = {"opened_at": NOW - 9 * MINUTE}, {"opened_at": NOW - 3 * MINUTE}
    api.change("g", "WARN", NOW - 9 * MINUTE, total_lag=3, **past)
    api.change("g", "ERR", NOW - 8 * MINUTE, previous="WARN", total_lag=90, **past)
    api.change("k", "ERR", NOW - 7 * MINUTE)
    gone = {"previous": "ERR", "opened_at": NOW - 7 * MINUTE, "reason": "group_deleted"}
    api.change("k", "NOTFOUND", NOW - 5 * MINUTE, **gone)
    api.change("g", "OK", NOW - 6 * MINUTE, previous="ERR", **past)
    api.change("g", "WARN", NOW - 3 * MINUTE, **present)
    incident: dict[str, Any] = {"id": f"g-{NOW - 3 * MINUTE}", **present}
    api.put("g", status="WARN", incident=incident)
    untold = {"id": "h-1", "opened_at": NOW - 50 * MINUTE}
    api.put("h", status="ERR", total_lag=5, incident=untold, cluster="eu")
    return api


def test_incidents_newest_first(troubled: Api) -> None:
    body = troubled.get("/api/v1/incidents").json()
    told = [
        (each["group"], each["open"], each["closed_at"], each["worst"], each["max_total_lag"])
        for each in body["incidents"]
    ]
    assert told == [
        ("g", True, None, "WARN", 1),
        ("k", False, NOW - 5 * MINUTE, "ERR", 1),
        ("g", False, NOW - 6 * MINUTE, "ERR", 90),
        ("h", True, None, "ERR", 5),
    ]
    assert (body["total"], body["next"]) == (4, None)
    assert body["remembered_since"] == NOW - 9 * MINUTE
    assert body["incidents"][1]["short"].endswith("; group deleted")
    past = body["incidents"][2]
    assert [change["status"] for change in past["changes"]] == ["WARN", "ERR", "OK"]
    assert troubled.get(f"/api/v1/incidents/{past['id']}").json() == past
    missing = troubled.get("/api/v1/incidents/nothing")
    assert (missing.status_code, missing.json()["title"]) == (404, "Incident not found")


@pytest.mark.parametrize(
    ("query", "expected"),
    [("open=true", "gh"), ("open=false", "kg"), ("cluster=eu", "h"), ("regex=[gk]", "gkg")],
)
def test_filters_of_incidents(troubled: Api, query: str, expected: str) -> None:
    body = troubled.get(f"/api/v1/incidents?{query}&limit=1").json()
    shown = "".join(each["group"] for each in body["incidents"])
    while body["next"]:
        body = troubled.get(f"/api/v1/incidents?{query}&limit=1&cursor={body['next']}").json()
        shown += "".join(each["group"] for each in body["incidents"])
    assert shown == expected


def test_an_incident_that_has_just_been_told_is_open_although_the_evaluation_is_older(
    api: Api,
) -> None:
    api.put("g", evaluated_at=NOW)
    api.change("g", "ERR", NOW + 5_000)
    (incident,) = api.get("/api/v1/incidents").json()["incidents"]
    assert incident["open"] is True
    api.put("g", evaluated_at=NOW + 10_000)
    (incident,) = api.get("/api/v1/incidents").json()["incidents"]
    assert incident["open"] is False, "a newer evaluation has none"


def test_every_kind_of_problem_is_explained(api: Api) -> None:
    problems = api.get("/api/v1/problems").json()["problems"]
    assert len({each["type"] for each in problems}) == len(problems) > 8
    for each in problems:
        assert api.get(each["type"]).json() == each
        assert each["status"] >= 400
        assert each["meaning"]
    assert api.get("/api/v1/problems/nothing").status_code == 404
