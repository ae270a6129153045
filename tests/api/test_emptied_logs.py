"""What retention has deleted is no lag to us; in what bears Burrow's name it is."""

import json

import pytest
from api.served_api import Api, topic

EMPTIED = {"committed": 1, "log_start": 300, "log_end": 300, "lag": 0}
PART = {"committed": 1, "log_start": 200, "log_end": 300, "lag": 100}


@pytest.fixture
def told(api: Api) -> Api:
    api.put("g", total_lag=100, topics={"orders": topic(EMPTIED, PART)})
    return api


def test_burrow_counts_from_the_committed_offset(told: Api) -> None:
    status = told.get("/v3/kafka/demo/consumer/g/lag").json()["status"]
    assert [row["current_lag"] for row in status["partitions"]] == [299, 299]
    assert (status["totallag"], status["maxlag"]["current_lag"]) == (598, 299)
    topics = json.loads(told.get("/v3/kafka/demo/consumer/g").text)["topics"]
    assert [row["current-lag"] for row in topics["orders"]] == [299, 299]


def test_series_of_both_names(told: Api) -> None:
    lines = told.get("/metrics").text.splitlines()

    def samples(name: str) -> list[float]:
        return [float(line.split()[-1]) for line in lines if line.startswith(name + "{")]

    assert samples("warren_partition_lag") == [0, 100]
    assert samples("burrow_kafka_consumer_partition_lag") == [299, 299]
    assert samples("burrow_kafka_consumer_lag_total") == [598]
