"""Topics that are unsubscribed or ignored count nowhere, and are seen all the same."""

from typing import Any

import pytest
from api.served_api import CAUGHT_UP, Api, freshness_event, late, topic
from warren.contracts import group_key

HOUR = 3_600_000


def put(api: Api, group: str, reason: str, **fields: Any) -> None:
    """It reads `orders` well; what is left of `old` counts nowhere."""
    old = topic({"status": "WARN" if reason == "unsubscribed" else "OK", "lag": 9_000})
    topics = {"orders": topic({"lag": 3}), "old": {**old, "reason": [reason]}}
    api.put(group, topics=topics, total_lag=3, **fields)
    measured = freshness_event(group, rows=[CAUGHT_UP])
    lost = freshness_event(group, topic="old", rows=[late(50 * HOUR, lost_records=64)])
    both = lost.model_copy(update={"topics": {**measured.topics, **lost.topics}})
    api.model.apply_freshness(group_key("demo", group), both.to_bytes())


@pytest.mark.parametrize("reason", ["unsubscribed", "ignored"])
def test_what_nobody_is_to_read_makes_no_group_late_or_losing(api: Api, reason: str) -> None:
    status = "WARN" if reason == "unsubscribed" else "OK"
    put(api, "billing", reason, status=status)
    api.put("late")
    api.measure("late", late(60_000))
    first, second = api.get("/api/v1/groups?sort=late").json()["groups"]
    assert (first["group"], second["group"]) == ("late", "billing")
    figures = second["freshness_ms"], second["lost_records"], second["total_lag"]
    assert figures == (0, 0, 3)
    found = api.get("/api/v1/groups/demo/billing").json()
    (old,) = [each for each in found["partitions"] if each["topic"] == "old"]
    assert (old["freshness_ms"], old["lag"], old["status_reason"]) == (50 * HOUR, 9_000, reason)
    lines = api.get("/metrics").text.splitlines()
    mine = [line for line in lines if "billing" in line and "freshness_seconds" in line]
    assert [line.split()[-1] for line in mine if line.startswith("warren_group_")] == ["0.0"]
    assert any(line.split()[-1] == f"{50 * 3600}.0" for line in mine), "each partition is seen"


def test_burrow_s_api_and_metrics_sum_all(api: Api) -> None:
    put(api, "billing", "unsubscribed", status="WARN")
    answer = api.get("/v3/kafka/demo/consumer/billing/lag").json()["status"]
    assert answer["totallag"] == 9_003
    lines = api.get("/metrics").text.splitlines()
    (total,) = [line for line in lines if line.startswith("burrow_kafka_consumer_lag_total{")]
    assert float(total.split()[-1]) == 9_003
