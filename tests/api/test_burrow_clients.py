"""What known clients of Burrow's API read, and as what types; they are strict about both.

By what their sources decode: each test says where. Clients of version 2, which Burrow itself has
left, are not among them.
"""

from __future__ import annotations

from typing import Any

import pytest
from api.burrow_goldens import put_windows, steady
from api.served_api import Api

HEAD = {"error": bool, "message": str}
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


def lag(api: Api, group: str = "billing") -> Any:
    body = api.get(f"/v3/kafka/demo/consumer/{group}/lag").json()
    read(body, HEAD)
    return body["status"]


def test_telegraf(api: Api) -> None:
    """influxdata/telegraf, plugins/inputs/burrow/burrow.go."""
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


def test_burrow_exporter(api: Api) -> None:
    """jirwin/burrow_exporter, exporter/client.go; shamil's, who reads the owner as well. They look
    at `error` of each body, and not at the status code.
    """
    for path, name in (
        ("/v3/kafka", "clusters"),
        ("/v3/kafka/demo/consumer", "consumers"),
        ("/v3/kafka/demo/topic", "topics"),
    ):
        body = api.get(path).json()
        read(body, HEAD | {name: list})
        assert (body["error"], {type(each) for each in body[name]}) == (False, {str})
    read(api.get("/v3/kafka/demo/topic/orders").json(), HEAD | {"offsets": list})
    status = lag(api)
    read(status, {"cluster": str, "group": str, "status": str, "totallag": int, "maxlag": dict})
    for partition in (status["maxlag"], *status["partitions"]):
        read(partition, PARTITION)
    gone = lag(api, "gone")
    read(gone, {"status": str, "totallag": int, "partitions": list})
    assert (gone["status"], gone["maxlag"]) == ("NOTFOUND", None)
    assert api.get("/v3/kafka/gone/consumer").json()["error"]


def test_datadogs_check(api: Api) -> None:
    """packetloop/datadog-agent-burrow, checks.d/burrow.py."""
    assert api.get("/burrow/admin").status_code == 200
    status = lag(api)
    assert type(status["maxlag"]["end"]["lag"]) is int
    known = {"UNKNOWN", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND"}
    assert {status["status"], *(p["status"] for p in status["partitions"])} <= known
    ends = [partition["end"] for partition in status["partitions"]]
    assert [type(end["timestamp"]) for end in ends if end] == [int]
    topics = api.get("/v3/kafka/demo/consumer/billing").json()["topics"]
    for partition in topics["orders"]:
        for commit in partition["offsets"]:
            assert commit is None or read(commit, {"offset": int, "timestamp": int}) is None


def test_burrow_ui(api: Api) -> None:
    """GeneralMills/BurrowUI, server/routes/api.js and src/app/classes."""
    asked = {"url": str, "host": str}
    read(api.get("/v3/kafka").json(), HEAD | {"clusters": list, "request": dict})
    read(api.get("/v3/kafka/demo").json(), HEAD | {"request": dict})
    read(api.get("/v3/kafka/demo").json()["request"], asked)
    read(api.get("/v3/kafka/demo/topic/orders").json(), HEAD | {"offsets": list})
    status = lag(api)
    read(status, {"group": str, "partition_count": int, "maxlag": dict, "totallag": int})
    assert type(status["complete"]) in (int, float)
    for partition in status["partitions"]:
        read(partition, {"topic": str, "partition": int, "status": str})


def test_burrow_dashboard(api: Api) -> None:
    """joway/burrow-dashboard, src/apis.js and src/components: the windows, a partition after the
    other, of which it takes null for no commit.
    """
    topics = api.get("/v3/kafka/demo/consumer/billing").json()["topics"]
    full, empty = topics["orders"]
    for commit in full["offsets"]:
        read(commit, {"timestamp": int, "lag": int})
    assert type(empty["offsets"]) is list


def test_the_exporter_of_current_lags(api: Api) -> None:
    """fretboarder/burrow-exporter, exporter.py: the one place where Burrow writes a hyphen."""
    topics = api.get("/v3/kafka/demo/consumer/billing").json()["topics"]
    assert {type(partition["current-lag"]) for partition in topics["orders"]} == {int}


def test_hootsuites_health_check(api: Api) -> None:
    """hootsuite/healthchecks, checks/burrow: numbers that Go does not take for floats are whole."""
    status = lag(api)
    read(status, {"status": str, "totallag": int, "partition_count": int})
    for partition in (status["maxlag"], *status["partitions"]):
        read(partition, PARTITION | {"client_id": str})
        assert type(partition["complete"]) in (int, float)


def test_sensus_check(api: Api) -> None:
    """Jana-Mobile/sensu-plugins, burrow/check-kafka-consumers.rb: `/status` of all groups."""
    for group in api.get("/v3/kafka/demo/consumer").json()["consumers"]:
        status = api.get(f"/v3/kafka/demo/consumer/{group}/status").json()["status"]["status"]
        assert status in {"NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND"}


def test_the_freshness_tracker(api: Api) -> None:
    """Tesla's: Burrow has to be healthy, it finds the brokers by itself, and reads up to where a
    group is.
    """
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
