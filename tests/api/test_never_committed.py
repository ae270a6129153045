"""What nobody has ever committed: at least so far behind; OK in what bears Burrow's name."""

from typing import Any

import pytest
from api.served_api import CAUGHT_UP, Api, late, topic

WHY = "never committed, though at least 895 records came within 15m; its owner commits nothing"


def never(**more: Any) -> dict[str, Any]:
    return {
        "status": "STALL",
        "committed": -1,
        "committed_at": -1,
        "log_end": 2_895,
        "lag": 895,
        "complete": 0.0,
        **more,
    }


@pytest.fixture
def told(api: Api) -> Api:
    columns = topic({}, never()) | {
        "reason": [None, "never_committed"],
        "explanation": [None, WHY],
    }
    api.put(
        "g",
        status="ERR",
        reason="never_committed",
        explanation=f"orders/1 STALL: {WHY}",
        total_lag=895,
        topics={"orders": columns},
    )
    api.measure("g", CAUGHT_UP, late(None, reason="no_commit", bound_ms=900_000))
    return api


def test_our_group_says_that_its_lag_is_a_bound(told: Api) -> None:
    (row,) = told.get("/api/v1/groups").json()["groups"]
    assert (row["status"], row["status_reason"]) == ("ERR", "never_committed")
    assert row["freshness_at_least_ms"] == 900_000
    assert (row["total_lag"], row["total_lag_at_least"]) == (None, 895)
    assert 'warren_group_lag{cluster="demo",group="g"} 895' in told.get("/metrics").text
    rows = {r["partition"]: r for r in told.get("/api/v1/groups/demo/g").json()["partitions"]}
    assert not rows[0]["lag_at_least"]
    assert (rows[1]["committed"], rows[1]["lag"], rows[1]["lag_at_least"]) == (None, 895, True)


def test_burrow_has_nothing_to_say_where_there_is_no_commit(told: Api) -> None:
    status = told.get("/v3/kafka/demo/consumer/g/status").json()["status"]
    assert (status["status"], status["partitions"], status["totallag"]) == ("OK", [], 895)
    lag = told.get("/v3/kafka/demo/consumer/g/lag").json()["status"]
    assert [(p["status"], p["current_lag"]) for p in lag["partitions"]] == [("OK", 0), ("OK", 895)]
    text = told.get("/metrics").text
    assert 'warren_group_status{cluster="demo",group="g",status="ERR"} 1' in text
    assert 'burrow_kafka_consumer_status{cluster="demo",consumer_group="g"} 1' in text


def test_at_least_nothing_is_no_lag_of_nothing(api: Api) -> None:
    """2,000 records were there before, and none has come since: nobody knows which are read."""
    columns = topic(never(status="OK", lag=0, log_end=2_000))
    api.put("g", total_lag=0, topics={"orders": columns})
    (row,) = api.get("/api/v1/groups").json()["groups"]
    assert (row["status"], row["total_lag"], row["total_lag_at_least"]) == ("OK", None, 0)
    lines = [line for line in api.get("/metrics").text.splitlines() if 'group="g"' in line]
    lags = [line for line in lines if "_lag" in line.partition("{")[0]]
    assert [line for line in lags if not line.startswith("burrow_")] == []
    assert "unknown" in api.get("/groups/demo/g").text
