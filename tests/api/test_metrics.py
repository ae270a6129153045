from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from api.served_api import CAUGHT_UP, NOW, Api, late, topic
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from warren.contracts import group_key
from warren.metrics import API_FAMILIES
from warren.metrics.family import DETAILS, Detail
from warren_api.metrics import routes as metrics_route
from warren_api.metrics.scrape import scrape as all_series
from warren_api.model.feed_state import FeedState

Labels = tuple[tuple[str, str], ...]
MEMBER = ("member_host", "consumer_id", "client_id")


def scrape(api: Api) -> dict[str, dict[Labels, float]]:
    """Samples by name and sorted labels."""
    answer = api.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    samples: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.documentation
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            assert labels not in samples.setdefault(sample.name, {}), "one sample per series"
            samples[sample.name][labels] = sample.value
    return samples


def labels(**named: str) -> Labels:
    return tuple(sorted(named.items()))


@pytest.fixture
def filled(api: Api) -> Api:
    bad = {"status": "STOP", "lag": 60, "log_end": 160}
    young = {"complete": 0.9, "lag": None, "log_end": -1}
    incident = {"id": "i", "opened_at": NOW - 90_000}
    topics = {"orders": topic({}, bad, young)}
    api.put("billing", status="ERR", total_lag=60, topics=topics, incident=incident)
    return api


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
    }
    assert samples["warren_group_partitions"] == {
        labels(**group, status="STOP"): 1,
        labels(**group, status="OK"): 2,
    }
    assert samples["warren_group_open_incident_seconds"] == {labels(**group): 90}
    assert samples["warren_group_evaluated_timestamp_seconds"] == {labels(**group): NOW / 1000}
    assert samples["warren_api_groups"] == {(): 1}
    assert samples["warren_api_partitions"] == {(): 3}


def test_the_log_end_of_a_shared_topic_is_the_newest_seen(api: Api) -> None:
    api.put("new", evaluated_at=NOW, topics={"t": topic({"log_end": 120})})
    api.put("old", evaluated_at=NOW - 5_000, topics={"t": topic({"log_end": 110})})
    name = labels(cluster="demo", topic="t", partition="0")
    assert scrape(api)["burrow_kafka_topic_partition_offset"] == {name: 120}


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
    assert samples["kafka_consumergroup_group_topic_sum_lag"] == {
        labels(**group, topic="orders"): 60
    }
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
    assert samples["warren_topic_lag"] == {orders: 5, bills: 0}
    assert samples["warren_topic_freshness_seconds"] == {orders: 2.5}
    assert samples["warren_partition_lag"] == {
        labels(**group, topic="orders", partition="0"): 5,
        labels(**group, topic="bills", partition="0"): 0,
    }


def served(api: Api) -> set[str]:
    """Families of groups that /metrics has."""
    of_groups = {family.name for family in API_FAMILIES if family.labels}
    return scrape(api).keys() & of_groups


@pytest.mark.parametrize("detail", DETAILS)
def test_how_fine_the_series_are_is_a_setting(detail: Detail) -> None:
    api = Api(metrics={"metrics_detail": detail})
    api.put("billing", status="ERR", incident={"id": "i", "opened_at": NOW})
    api.measure("billing", late(1, time_to_loss_ms=1, commit_lag_ms=1, append_lag_ms=1))
    finest = {"group": {"group"}, "topic": {"group", "topic"}, "partition": set(DETAILS)}[detail]
    wanted = {f.name for f in API_FAMILIES if f.labels and f.detail in finest}
    assert served(api) == wanted
    samples = scrape(api)
    named = {name for family in served(api) for key in samples[family] for name, _ in key}
    assert ("partition" in named) == (detail == "partition")
    assert ("topic" in named) == (detail != "group")
    assert scrape(api)["warren_api_groups"] == {(): 1}


@pytest.mark.parametrize("origin", ["warren", "burrow", "kafka_lag_exporter", "tesla"])
def test_whose_names_are_served_is_a_setting(origin: str) -> None:
    api = Api(metrics={"metrics_origins": [origin]})
    api.put("billing", status="ERR", incident={"id": "i", "opened_at": NOW})
    api.measure("billing", late(1, time_to_loss_ms=1, commit_lag_ms=1, append_lag_ms=1))
    assert served(api) == {f.name for f in API_FAMILIES if f.labels and f.origin == origin}


def test_single_families_can_be_asked_for(filled: Api) -> None:
    query = "?name[]=kafka_consumergroup_group_max_lag&name[]=warren_api_requests_total"
    filled.get("/metrics")
    text = filled.get(f"/metrics{query}").text
    heads = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert heads == ["warren_api_requests_total", "kafka_consumergroup_group_max_lag"]
    assert 'kafka_consumergroup_group_max_lag{cluster_name="demo",group="billing"} 60' in text


def test_openmetrics_for_who_asks_for_it(filled: Api) -> None:
    filled.put('quote" back\\slash\nline %s', topics={"t %": topic({}, {})})
    filled.measure("billing", late(1_500), CAUGHT_UP)
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    answer = filled.get("/metrics", headers={"Accept": accept})
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("\n# EOF\n")
    assert answer.text.count("# EOF") == 1
    families = {family.name: family for family in openmetrics_families(answer.text)}
    assert {family.name for family in API_FAMILIES} <= families.keys()
    late_group = families["warren_group_freshness_seconds"].samples
    assert [(s.labels["group"], s.value) for s in late_group] == [("billing", 1.5)]


def test_names_are_as_prometheus_wants_them() -> None:
    """The rules of `promtool check metrics`, but for one name that Tesla's tracker chose."""
    for family in API_FAMILIES:
        words = family.name.split("_")
        assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name)
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", label) for label in family.labels)
        assert family.documentation
        assert not {"le", "quantile"} & set(family.labels)
        assert family.type not in words
        if family.type == "gauge":
            assert words[-1] not in {"total", "count", "sum", "bucket"}, family.name
        if family.origin != "tesla":
            assert not {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "m", "h", "d"} & set(
                words
            ), family.name
            assert not {"milliseconds", "minutes", "hours", "days"} & set(words), family.name


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


def test_every_family_is_of_the_catalogue_and_every_one_of_it_is_there(filled: Api) -> None:
    filled.measure("billing", CAUGHT_UP)
    text = filled.get("/metrics").text.splitlines()
    described = [line for line in text if line.startswith("# HELP ")]
    catalogued = [f"# HELP {family.name} {family.documentation}" for family in API_FAMILIES]
    assert len(set(described)) == len(described)
    assert set(catalogued) <= set(described)
    # What else there is counts the API's own requests and events.
    others = [line.split()[2] for line in described if line not in catalogued]
    assert {name.split("_")[2] for name in others} == {"request", "requests", "events"}


class Parsed(Collector):
    """A prometheus_client collector of what its parser read."""

    def __init__(self, text: str) -> None:
        self.families = list(text_string_to_metric_families(text))

    def collect(self) -> Iterator[Metric]:
        yield from self.families


def test_prometheus_client_would_have_written_the_same(filled: Api) -> None:
    filled.put('back\\slash "quote"\nnew line, grün', topics={"t": topic({}, {})})
    filled.measure("billing", late(1_500, time_to_loss_ms=9), CAUGHT_UP)
    text = b"".join(all_series(filled.context)).decode()
    registry = CollectorRegistry()
    registry.register(Parsed(text))
    theirs = generate_latest(registry).decode()

    def comparable(text: str) -> list[tuple[str, float | str]]:
        parts = [line.rpartition(" ") for line in text.splitlines()]
        return [(a, b if a.startswith("#") else float(b)) for a, _, b in parts]

    assert comparable(text) == comparable(theirs)


def test_a_scrape_leaves_the_event_loop_to_others(
    filled: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits, in the middle of its rendering, until another request has been answered."""
    rendering, answered = threading.Event(), threading.Event()

    def slow_series(*_: Any, openmetrics: bool) -> Iterator[bytes]:
        assert not openmetrics
        rendering.set()
        yield b"slow 1\n"
        assert answered.wait(30)
        yield b"slow 2\n"

    monkeypatch.setattr(metrics_route, "scrape", slow_series)

    async def ask(encoding: str) -> httpx.Response:
        transport = httpx.ASGITransport(filled.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://warren") as client:
            headers = {"Accept-Encoding": encoding}
            scraping = asyncio.create_task(client.get("/metrics", headers=headers))
            assert await run_in_threadpool(rendering.wait, 30)
            assert (await client.get("/burrow/admin")).text == "GOOD"
            answered.set()
            return await scraping

    for encoding in ("gzip", "identity"):
        rendering.clear()
        answered.clear()
        assert asyncio.run(ask(encoding)).text.endswith("slow 1\nslow 2\n")


def test_whether_to_believe_the_rest(api: Api) -> None:
    assert scrape(api)["warren_api_ready"] == {(): 1}
    assert scrape(api)["warren_api_feed_working"] == {(): 1}
    assert scrape(api)["warren_api_freshness_topic"] == {(): 1}
    api.feed = FeedState(ready=False, problem="away", freshness=False)
    assert scrape(api)["warren_api_freshness_topic"] == {(): 0}
    assert scrape(api)["warren_api_ready"] == {(): 0}
    assert scrape(api)["warren_api_feed_working"] == {(): 0}


@pytest.mark.parametrize("group", ['quote"', "back\\slash", "new\nline", "grün 🐇"])
def test_any_group_name_is_a_label_value(api: Api, group: str) -> None:
    api.put(group)
    assert scrape(api)["warren_group_lag"] == {labels(cluster="demo", group=group): 0}


def test_requests_are_counted_by_route_not_by_path(api: Api) -> None:
    route = "/v3/kafka/{cluster}/consumer/{group}/status"
    asked = labels(route=route, method="GET", code="404")
    unknown = labels(route="other", method="GET", code="404")
    before = scrape(api)["warren_api_requests_total"]
    api.get("/v3/kafka/demo/consumer/made-up/status")
    api.get("/made-up")
    after = scrape(api)["warren_api_requests_total"]
    assert after[asked] == before.get(asked, 0) + 1
    assert after[unknown] == before.get(unknown, 0) + 1
    assert not [name for name in after if "made-up" in str(name)]


def test_large_answers_are_compressed_for_who_wants_it(filled: Api) -> None:
    compressed = filled.get("/metrics")
    assert compressed.headers["content-encoding"] == "gzip"
    plain = filled.get("/metrics", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    for answer in (compressed, plain):
        assert answer.headers["vary"] == "Accept, Accept-Encoding"
        assert "warren_group_lag{" in answer.text
    head = filled.request("HEAD", "/metrics")
    assert (head.status_code, head.content) == (200, b"")


def test_topics_that_nobody_consumes_are_among_burrows_series(api: Api) -> None:
    """Where groups saw a log end, that one is told: it is of the moment of their evaluation."""
    api.put("billing", topics={"orders": topic({"log_end": 120})})
    api.list_topics({"orders": [110, 7, -1], "alone": [3]})
    ends = {("orders", "0"): 120, ("orders", "1"): 7, ("alone", "0"): 3}
    assert scrape(api)["burrow_kafka_topic_partition_offset"] == {
        labels(cluster="demo", topic=name, partition=partition): end
        for (name, partition), end in ends.items()
    }
