from http import HTTPStatus

import pytest
from api.served_api import CAUGHT_UP, NOW, Api, late, topic
from structlog.testing import capture_logs
from warren_api.model.cluster import FeedState

INCIDENT = {"id": "5b6a", "opened_at": NOW - 60_000}
WHY = "t/1: 5 commits, all of offset 100; 7 records behind"
BAD = {"status": "STALL", "lag": 7, "log_end": 107, "complete": 0.5}


def test_groups_worst_first(api: Api) -> None:
    api.put("fine")
    why = {"reason": "no_progress", "explanation": WHY}
    topics = {"t": topic({}, BAD)}
    api.put("bad", status="ERR", total_lag=7, incident=INCIDENT, topics=topics, **why)
    answer = api.get("/api/v1/groups")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert [group["group"] for group in body["groups"]] == ["bad", "fine"]
    assert body["groups"][0] == {
        "cluster": "demo",
        "group": "bad",
        "status": "ERR",
        "last_status": "ERR",
        "not_judged": None,
        "status_reason": "no_progress",
        "ignored": False,
        "explanation": WHY,
        "since": NOW - 60_000,
        "cause": None,
        "total_lag": 7,
        "total_lag_at_least": None,
        "complete": 1.0,
        "worst": {"topic": "t", "partition": 1, "status": "STALL", "lag": 7},
        "incident": INCIDENT,
        "broken_objectives": [],
        "silence": None,
        "acknowledgement": None,
        "evaluated_at": NOW,
        "partition_counts": {"STALL": 1, "OK": 1},
        "partition_count": 2,
        "protocol": None,
        "state": None,
        "member_count": None,
        "freshness_ms": None,
        "freshness_at_least_ms": None,
        "freshness_reason": None,
        "lost_records": 0,
        "data_loss": None,
        "time_to_loss_ms": None,
        "time_to_loss_reason": None,
        "freshness_measured_at": None,
        "freshness_stale": False,
        "owner": None,
        "runbook": None,
        "severity": "ERR",
        "words": {"short": "Stuck at one offset", "why": WHY, "late": "", "loss": "", "lag": "7"},
    }
    assert body["groups"][1]["incident"] is None
    assert body["groups"][1]["since"] is None
    assert body["doubts"] == []


def test_a_group_with_its_partitions_as_rows(api: Api) -> None:
    never = {"committed": -1, "committed_at": -1, "lag": None, "start": None, "end": None}
    never |= {"log_end": -1, "log_start": -1, "complete": 0.0}
    api.put("a/b", topics={"t": topic(BAD, never)})
    body = api.get("/api/v1/groups/demo/a%2Fb").json()
    assert (body["group"], body["policy"], body["partition_count"]) == ("a/b", "burrow", 2)
    assert body["partitions"][0] == {
        "topic": "t",
        "partition": 0,
        "status": "STALL",
        "status_reason": None,
        "explanation": None,
        "owner": None,
        "lag": 7,
        "lag_at_least": False,
        "committed": 100,
        "committed_at": NOW - 1_000,
        "log_start": 0,
        "log_end": 107,
        "complete": 0.5,
        "window_start": {
            "offset": 91,
            "at": NOW - 10_000,
            "observed_at": NOW - 9_990,
            "lag": 4,
        },
        "window_end": {"offset": 100, "at": NOW - 1_000, "observed_at": NOW - 990, "lag": 0},
        "freshness_ms": None,
        "reason": None,
        "bound_ms": None,
        "lost_records": 0,
        "time_to_loss_ms": None,
        "time_to_loss_reason": None,
        "oldest_at": None,
        "commit_lag_ms": None,
        "append_lag_ms": None,
    }
    unknown = ("lag", "committed", "committed_at", "log_start", "log_end", "window_start")
    assert [body["partitions"][1][name] for name in unknown] == [None] * len(unknown)


def test_what_is_known_is_served_with_doubts_while_the_home_cluster_is_away(api: Api) -> None:
    api.put("g")
    api.feed = FeedState(ready=True, problem="cluster home: no broker answers")
    body = api.get("/api/v1/groups").json()
    assert len(body["groups"]) == 1
    assert body["doubts"] == ["Warren cannot read its own topics: cluster home: no broker answers."]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/v1/nothing", 404), ("POST", "/api/v1/groups", 405), ("GET", "/api/", 404)],
)
def test_refusals_are_problems(api: Api, method: str, path: str, status: int) -> None:
    answer = api.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (body["type"], body["status"]) == ("about:blank", status)
    assert body["title"] == HTTPStatus(status).phrase


@pytest.mark.parametrize("path", ["silences", "incidents/billing-1/acknowledge"])
def test_a_body_that_cannot_be_read_is_an_invalid_request(api: Api, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.request("POST", f"/api/v1/{path}", content="[" * 30_000, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["type"].endswith("/invalid-request")
    assert answer.json()["detail"] == "The body is no JSON that can be read."


def test_a_failure_is_a_problem_that_tells_no_secrets(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(api.model, "groups", fail)
    monkeypatch.setattr(api.model, "clusters", fail)
    with capture_logs() as logs:
        answer = api.get("/api/v1/groups")
        burrow = api.get("/v3/kafka")
    assert [entry["path"] for entry in logs] == ["/api/v1/groups", "/v3/kafka"]
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "hunter2" not in answer.text
    assert (burrow.status_code, burrow.json()["error"]) == (500, True)
    assert "hunter2" not in burrow.text


EXPIRED = late(
    90_000,
    reason="expired",
    lost_records=1_204,
    time_to_loss_ms=60_000,
    commit_lag_ms=15,
    append_lag_ms=80_000,
)


def test_a_group_says_how_late_it_is_and_what_it_loses(api: Api) -> None:
    api.put("g")
    api.measure("g", CAUGHT_UP, EXPIRED, measured_at=NOW - 4_000)
    (group,) = api.get("/api/v1/groups").json()["groups"]
    assert {name: group[name] for name in group if "fresh" in name or "los" in name} == {
        "freshness_ms": 90_000,
        "freshness_at_least_ms": None,
        "freshness_reason": "expired",
        "lost_records": 1_204,
        "data_loss": "now",
        "time_to_loss_ms": 60_000,
        "time_to_loss_reason": None,
        "freshness_measured_at": NOW - 4_000,
        "freshness_stale": False,
    }
    detail = api.get("/api/v1/groups/demo/g").json()
    assert detail["freshness_ms"] == 90_000
    caught_up, expired = detail["partitions"]
    assert (caught_up["freshness_ms"], caught_up["reason"]) == (0, "caught_up")
    columns = ("freshness_ms", "reason", "bound_ms", "lost_records", "time_to_loss_ms", "oldest_at")
    assert [expired[name] for name in columns] == [
        90_000,
        "expired",
        0,
        1_204,
        60_000,
        NOW - 90_000,
    ]
    assert (expired["commit_lag_ms"], expired["append_lag_ms"]) == (15, 80_000)
