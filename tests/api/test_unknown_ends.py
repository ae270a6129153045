"""Where nobody says where a log ends, the group is UNKNOWN, and its lag at least what is known."""

from typing import Any

import pytest
from api.served_api import Api, topic
from api.test_clusters import say

WHY = "nobody has said for 4m where its log ends"
EVENT: dict[str, Any] = {
    "is_known": False,
    "unknown_partitions": 1,
    "reason": "log_end_unknown",
    "explanation": f"secret/0 UNKNOWN: {WHY}",
}
FAMILIES = (
    "warren_group_lag",
    "warren_topic_lag",
    "kafka_consumergroup_group_sum_lag",
    "kafka_consumergroup_group_topic_sum_lag",
    "kafka_consumergroup_group_max_lag",
)


def topics() -> dict[str, Any]:
    why = {"reason": ["log_end_unknown"], "explanation": [WHY]}
    return {"secret": topic({"lag": None, "log_start": -1, "log_end": -1}) | why}


@pytest.fixture
def told(api: Api) -> Api:
    api.put("blind", topics=topics(), total_lag=0, **EVENT)
    api.put("fine", topics={"orders": topic({})})
    return api


def test_group_is_unknown(told: Api) -> None:
    row = told.get("/api/v1/groups/demo/blind").json()
    assert (row["status"], row["last_status"]) == ("UNKNOWN", "OK")
    assert row["status_reason"] == "log_end_unknown"
    assert row["explanation"] == EVENT["explanation"]
    assert (row["total_lag"], row["total_lag_at_least"]) == (None, 0)
    assert row["partition_counts"] == {"UNKNOWN": 1}
    assert row["worst"]["status"] == "UNKNOWN"
    (partition,) = row["partitions"]
    assert (partition["status"], partition["lag"]) == ("UNKNOWN", None)
    (read,) = row["topics"]
    assert read["lag"] is None


def test_what_is_known_is_said_as_a_bound(api: Api) -> None:
    api.put("blind", topics=topics(), total_lag=300, **EVENT)
    row = api.get("/api/v1/groups/demo/blind").json()
    assert (row["total_lag"], row["total_lag_at_least"]) == (None, 300)
    assert "≥ 300" in api.get("/").text
    assert "≥ 300" in api.get("/groups/demo/blind").text
    assert "≥ 300" in api.get("/clusters/demo").text


def test_series_are_absent_rather_than_zero(told: Api) -> None:
    lines = told.get("/metrics").text.splitlines()
    for family in FAMILIES:
        named = [line for line in lines if line.startswith(family + "{")]
        assert named, family
        assert not [line for line in named if "blind" in line], family
    states = [line for line in lines if line.startswith("warren_group_status{") and "blind" in line]
    assert [line.split()[-1] for line in states if 'status="UNKNOWN"' in line] == ["1"]
    assert [line.split()[-1] for line in states if 'status="OK"' in line] == ["0"]


def test_burrow_takes_what_is_unknown_for_ok(told: Api) -> None:
    status = told.get("/v3/kafka/demo/consumer/blind/lag").json()["status"]
    assert (status["status"], status["totallag"]) == ("OK", 0)
    assert [row["status"] for row in status["partitions"]] == ["OK"]


def test_one_that_is_known_to_be_bad_is_shown_so(api: Api) -> None:
    bad = {"status": "STOP", "lag": 9, "reason": "no_commit"}
    rows = topics() | {"orders": topic(bad)}
    api.put("half", status="ERR", topics=rows, total_lag=9, **EVENT | {"is_known": True})
    row = api.get("/api/v1/groups/demo/half").json()
    assert (row["status"], row["total_lag_at_least"]) == ("ERR", 9)
    assert row["partition_counts"] == {"STOP": 1, "UNKNOWN": 1}
    assert row["worst"]["topic"] == "orders"


def test_cluster_names_topics_and_right(api: Api) -> None:
    say(api, "a", "ok", refused_topics=["secret", "secret.too"])
    row = api.get("/api/v1/clusters/demo").json()
    assert row["state"] == "ok"
    assert row["problem"] == (
        "not authorised: DESCRIBE on topic secret and 1 more topic; where the log ends is unknown, "
        "and so is who is behind on it"
    )
    (doubt,) = api.get("/api/v1/clusters").json()["doubts"]
    assert "DESCRIBE on topic secret" in doubt
    assert "DESCRIBE on topic secret" in api.get("/clusters/demo").text
