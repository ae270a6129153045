"""Series of groups: names, labels and values under each origin's names."""

import pytest
from api.scraped import Labels, fill, labels, scrape
from api.served_api import CAUGHT_UP, NOW, Api, late, paced, topic
from warren.contracts import group_key
from warren.metrics import API_FAMILIES

MEMBER = ("member_host", "consumer_id", "client_id")


@pytest.fixture
def filled(api: Api) -> Api:
    return fill(api)


def test_burrows_series_have_its_names_labels_and_values(filled: Api) -> None:
    samples = scrape(filled)
    group = {"cluster": "demo", "consumer_group": "billing"}

    def partition(number: int) -> Labels:
        return labels(**group, topic="orders", partition=str(number))

    assert samples["burrow_kafka_consumer_lag_total"] == {labels(**group): 60}
    assert samples["burrow_kafka_consumer_status"] == {labels(**group): 3}
    assert samples["burrow_kafka_consumer_partition_lag"] == {
        partition(0): 0,
        partition(1): 60,
        partition(2): 0,
    }
    # Only where the window is full, as in Burrow.
    assert samples["burrow_kafka_topic_partition_status"] == {partition(0): 1, partition(1): 4}
    assert samples["burrow_kafka_consumer_current_offset"] == {partition(0): 100, partition(1): 100}
    assert samples["burrow_kafka_topic_partition_offset"] == {
        labels(cluster="demo", topic="orders", partition="0"): 100,
        labels(cluster="demo", topic="orders", partition="1"): 160,
    }


def test_our_series(filled: Api) -> None:
    samples = scrape(filled)
    group = {"cluster": "demo", "group": "billing"}
    assert samples["warren_group_lag"] == {labels(**group): 60}
    assert samples["warren_group_status"] == {
        labels(**group, status="OK"): 0,
        labels(**group, status="WARN"): 0,
        labels(**group, status="ERR"): 1,
        labels(**group, status="UNKNOWN"): 0,
    }
    assert samples["warren_group_partitions"] == {
        labels(**group, status="STOP"): 1,
        labels(**group, status="OK"): 2,
    }
    assert samples["warren_group_open_incident_seconds"] == {labels(**group): 90}
    assert samples["warren_group_evaluated_timestamp_seconds"] == {labels(**group): NOW / 1000}
    assert samples["warren_api_groups"] == {(): 1}
    assert samples["warren_api_partitions"] == {(): 3}


def test_series_of_removed_groups_disappear(filled: Api) -> None:
    filled.model.apply(group_key("demo", "billing"), None)
    names = [f.name for f in API_FAMILIES if f.labels and f.name != "warren_cluster_state"]
    samples = scrape(filled)
    assert not [name for name in names if name in samples]
    assert samples["warren_api_groups"] == {(): 0}


def test_kafka_lag_exporters_series_have_its_names_labels_and_values(filled: Api) -> None:
    filled.measure("billing", CAUGHT_UP, late(90_250), late(None, reason="timeout", bound_ms=None))
    samples = scrape(filled)
    group = {"cluster_name": "demo", "group": "billing"}
    member = dict.fromkeys(MEMBER, "unknown")

    def partition(number: int) -> Labels:
        return labels(**group, topic="orders", partition=str(number), **member)

    def log(number: int) -> Labels:
        return labels(cluster_name="demo", topic="orders", partition=str(number))

    assert samples["kafka_consumergroup_group_offset"] == {partition(n): 100 for n in range(3)}
    assert samples["kafka_consumergroup_group_lag"] == {partition(0): 0, partition(1): 60}
    assert samples["kafka_consumergroup_group_lag_seconds"] == {
        partition(0): 0,
        partition(1): 90.25,
    }
    assert samples["kafka_consumergroup_group_max_lag"] == {labels(**group): 60}
    assert samples["kafka_consumergroup_group_max_lag_seconds"] == {labels(**group): 90.25}
    assert samples["kafka_consumergroup_group_sum_lag"] == {labels(**group): 60}
    assert "kafka_consumergroup_group_topic_sum_lag" not in samples  # of a partition it is unknown
    assert samples["kafka_partition_latest_offset"] == {log(0): 100, log(1): 160}
    assert samples["kafka_partition_earliest_offset"] == {log(0): 0, log(1): 0}


def test_partitions_that_a_member_owns_are_labelled_with_it(filled: Api) -> None:
    filled.measure("billing", CAUGHT_UP, CAUGHT_UP, CAUGHT_UP)
    filled.describe("billing")
    samples = scrape(filled)
    for family in ("group_offset", "group_lag_seconds"):
        owners = {
            dict(key)["partition"]: tuple(dict(key)[name] for name in MEMBER)
            for key in samples[f"kafka_consumergroup_{family}"]
        }
        owned = ("/10.0.0.1", "m-1", "billing-1")
        assert owners == {"0": owned, "1": owned, "2": ("unknown",) * 3}


def test_lags_of_topics_and_partitions(filled: Api) -> None:
    filled.put("billing", topics={"orders": topic({"lag": 5}, {"lag": None}), "bills": topic({})})
    filled.measure("billing", late(1_500), late(2_500))
    samples = scrape(filled)
    group = {"cluster": "demo", "group": "billing"}
    orders, bills = labels(**group, topic="orders"), labels(**group, topic="bills")
    assert samples["warren_topic_lag"] == {bills: 0}
    assert samples["warren_topic_freshness_seconds"] == {orders: 2.5}
    assert samples["warren_partition_lag"] == {
        labels(**group, topic="orders", partition="0"): 5,
        labels(**group, topic="bills", partition="0"): 0,
    }


def test_how_late_groups_are(filled: Api) -> None:
    rows = [
        late(1_500, time_to_loss_ms=60_000, commit_lag_ms=20, append_lag_ms=900),
        late(90_250, reason="expired", lost_records=3, time_to_loss_ms=1_000),
        CAUGHT_UP,
    ]
    filled.measure("billing", *rows, measured_at=NOW - 4_000)
    samples = scrape(filled)
    group = labels(cluster="demo", group="billing")
    assert samples["warren_group_freshness_seconds"] == {group: 90.25}
    assert samples["warren_group_freshness_unknown_partitions"] == {group: 0}
    assert samples["warren_group_time_to_loss_seconds"] == {group: 1}
    assert samples["warren_group_lost_records"] == {group: 3}
    measured = samples["warren_group_freshness_measured_timestamp_seconds"]
    assert measured == {group: (NOW - 4_000) / 1000}

    def partition(number: int) -> Labels:
        return labels(cluster="demo", group="billing", topic="orders", partition=str(number))

    assert samples["warren_partition_freshness_seconds"] == {
        partition(0): 1.5,
        partition(1): 90.25,
        partition(2): 0,
    }
    assert samples["warren_partition_time_to_loss_seconds"] == {partition(0): 60, partition(1): 1}
    assert samples["warren_partition_commit_lag_seconds"] == {partition(0): 0.02}
    assert samples["warren_partition_append_lag_seconds"] == {partition(0): 0.9}


def test_rates_and_the_time_to_catch_up(filled: Api) -> None:
    filled.measure(
        "billing",
        paced(10, 12.5, 4_000),
        paced(1, 0.5),
        CAUGHT_UP,  # its rates are not known yet
        produce_rate=11,
        consume_rate=13,
        time_to_catch_up_ms=4_000,
    )
    samples = scrape(filled)
    group = labels(cluster="demo", group="billing")
    topic = labels(cluster="demo", group="billing", topic="orders")
    assert samples["warren_group_produce_rate"] == {group: 11}
    assert samples["warren_group_consume_rate"] == {group: 13}
    assert samples["warren_group_time_to_catch_up_seconds"] == {group: 4}
    assert samples["warren_topic_produce_rate"] == {topic: 11}
    assert samples["warren_topic_consume_rate"] == {topic: 13}
    filled.measure("billing", CAUGHT_UP)
    assert not [name for name in scrape(filled) if name.endswith(("_rate", "catch_up_seconds"))]


def test_teslas_series_has_its_name_labels_and_unit(filled: Api) -> None:
    filled.measure("billing", late(1_500), late(None, reason="timeout", bound_ms=None))
    assert scrape(filled)["kafka_consumer_freshness_ms"] == {
        labels(cluster="demo", consumer="billing", topic="orders", partition="0"): 1500
    }


def test_what_is_unknown_has_no_sample(api: Api) -> None:
    api.put("never-measured")
    api.put("unknown")
    api.measure("unknown", late(None, reason="not_authorised", bound_ms=None))
    samples = scrape(api)
    unknown = labels(cluster="demo", group="unknown")
    assert samples["warren_group_freshness_unknown_partitions"] == {unknown: 1}
    assert list(samples["warren_group_freshness_measured_timestamp_seconds"]) == [unknown]
    absent = (
        "warren_group_freshness_seconds",
        "warren_group_time_to_loss_seconds",
        "warren_partition_freshness_seconds",
        "warren_partition_time_to_loss_seconds",
        "warren_partition_commit_lag_seconds",
        "warren_partition_append_lag_seconds",
        "kafka_consumer_freshness_ms",
    )
    assert not [name for name in absent if name in samples]


def test_topics_that_nobody_consumes_are_among_burrows_series(api: Api) -> None:
    """Where groups saw a log end, that one is told: it is of the moment of their evaluation."""
    api.put("billing", topics={"orders": topic({"log_end": 120})})
    api.list_topics({"orders": [110, 7, -1], "alone": [3]})
    ends = {("orders", "0"): 120, ("orders", "1"): 7, ("alone", "0"): 3}
    assert scrape(api)["burrow_kafka_topic_partition_offset"] == {
        labels(cluster="demo", topic=name, partition=partition): end
        for (name, partition), end in ends.items()
    }
