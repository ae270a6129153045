"""What known clients of Burrow's API read, and as what types; they are strict about both.

telegraf's input `burrow`, a Prometheus exporter (burrow_exporter) and Tesla's consumer freshness
tracker, by what their sources decode.
"""

from __future__ import annotations

from typing import Any

import pytest
from api.burrow_goldens import put_windows, steady
from api.served_api import Api

PARTITION = {"topic": str, "partition": int, "status": str, "current_lag": int, "owner": str}
COMMIT = {"offset": int, "timestamp": int, "lag": int}


@pytest.fixture
def api(api: Api) -> Api:
    """Partition 1 never committed: Burrow's clients know that its edges are null."""
    put_windows(api, "billing", {"orders": [steady(10), []]}, total_lag=100)
    api.list_topics({"orders": [175, 7], "alone": [0]})
    return api


def read(source: Any, fields: dict[str, type]) -> None:
    for name, kind in fields.items():
        assert type(source[name]) is kind, name


def test_telegraf_and_the_exporter(api: Api) -> None:
    (cluster,) = api.get("/v3/kafka").json()["clusters"]
    for topic in api.get(f"/v3/kafka/{cluster}/topic").json()["topics"]:
        offsets = api.get(f"/v3/kafka/{cluster}/topic/{topic}").json()["offsets"]
        assert [type(offset) for offset in offsets] == [int] * len(offsets)
    for group in api.get(f"/v3/kafka/{cluster}/consumer").json()["consumers"]:
        status = api.get(f"/v3/kafka/{cluster}/consumer/{group}/lag").json()["status"]
        read(status, {"cluster": str, "group": str, "status": str, "totallag": int})
        read(status, {"partition_count": int, "partitions": list, "maxlag": dict})
        for partition in (status["maxlag"], *status["partitions"]):
            read(partition, PARTITION)
            for edge in (partition["start"], partition["end"]):
                assert edge is None or read(edge, COMMIT) is None


def test_the_freshness_tracker(api: Api) -> None:
    """It needs to be healthy, finds the brokers by itself, and reads up to where a group is."""
    assert api.get("/burrow/admin").text == "GOOD"
    assert api.get("/v3/kafka/demo").json()["module"]["servers"] == ["broker:9092"]
    (group,) = api.get("/v3/kafka/demo/consumer").json()["consumers"]
    partitions = api.get(f"/v3/kafka/demo/consumer/{group}/lag").json()["status"]["partitions"]
    assert [(p["topic"], p["partition"], p["end"] and p["end"]["offset"]) for p in partitions] == [
        ("orders", 0, 80),
        ("orders", 1, None),
    ]


def test_a_group_that_is_gone_is_told_by_the_status_code(api: Api) -> None:
    """They take any other code than 200 for an error and go on."""
    assert api.get("/v3/kafka/demo/consumer/gone/lag").status_code == 404
