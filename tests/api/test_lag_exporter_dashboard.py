"""Kafka Lag Exporter's own Grafana dashboard shows Warren's series.

Names and labels are facts from seglo/kafka-lag-exporter,
grafana/Kafka_Lag_Exporter_Dashboard.json. It also asks for `namespace`, which is a label of the
target: Prometheus adds it to whatever it finds on Kubernetes, and relabelling does elsewhere. Its
last row is about the exporter's own JVM.
"""

import pytest
from api.scraped import scrape
from api.served_api import Api, late

GROUP = {"cluster_name", "group"}
PARTITION = GROUP | {"topic", "partition"}
ASKED = {
    "kafka_consumergroup_group_max_lag_seconds": GROUP,
    "kafka_consumergroup_group_lag_seconds": PARTITION,
    "kafka_consumergroup_group_max_lag": GROUP,
    "kafka_consumergroup_group_lag": PARTITION,
    "kafka_consumergroup_group_offset": PARTITION,
    "kafka_partition_latest_offset": PARTITION - {"group"},
}
JOINED = ("cluster_name", "topic", "partition")


@pytest.fixture
def api(api: Api) -> Api:
    for group in ("billing", "mailer"):
        api.put(group)
        api.measure(group, late(5_000), late(7_000))
    api.describe("billing")
    return api


@pytest.mark.parametrize("name", ASKED)
def test_all_that_it_asks_for_is_there(api: Api, name: str) -> None:
    found = [dict(labels) for labels in scrape(api)[name]]
    assert all(labels.keys() >= ASKED[name] for labels in found)
    assert all(labels.get("group", "-") != "" for labels in found), 'group!=""'
    groups = {labels.get("group") for labels in found}
    assert groups == ({"billing", "mailer"} if "group" in ASKED[name] else {None})


def test_log_ends_are_one_for_each_offset_that_it_joins_them_to(api: Api) -> None:
    """A sum of what `on (cluster_name, topic, partition) group_left ()` finds."""
    samples = scrape(api)
    ends = [
        tuple(dict(labels)[name] for name in JOINED)
        for labels in samples["kafka_partition_latest_offset"]
    ]
    assert len(ends) == len(set(ends)), "else Prometheus refuses it"
    for labels in samples["kafka_consumergroup_group_offset"]:
        assert tuple(dict(labels)[name] for name in JOINED) in ends
