"""What is pushed is what `/metrics` says: the same families, labels and values."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from api.pushed import Samples, api_with, fill_nastily, of_graphite, of_influxdb, of_otlp, push
from api.scraped import Labels, scrape
from api.served_api import NOW, Api
from hypothesis import given
from hypothesis import strategies as st
from line_protocol_parser import parse_line
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from prometheus_client.samples import Sample
from support.push_receivers import http_receiver, tcp_receiver
from support.waiting import eventually
from warren_api.push.graphite import node
from warren_api.push.influxdb import line
from warren_api.push.otlp_data import unit


def served(api: Api) -> Samples:
    """What a scrape says, but for what no push can say of itself."""
    return {
        name: series
        for name, series in scrape(api).items()
        if not name.endswith("_created") and not name.startswith("warren_api_push")
    }


def pushed(samples: Samples) -> Samples:
    return {n: series for n, series in samples.items() if not n.startswith("warren_api_push")}


def renamed(samples: Samples, text: Callable[[str, str], str]) -> Samples:
    """With other labels' values; empty ones are no labels."""

    def other(labels: Labels) -> Labels:
        return tuple((name, text(name, value)) for name, value in labels if value)

    return {
        name: {other(labels): value for labels, value in series.items()}
        for name, series in samples.items()
    }


@pytest.mark.parametrize("batch", [100, 50_000])
def test_otlp_has_all_of_a_scrape(batch: int) -> None:
    with http_receiver() as receiver:
        api = fill_nastily(api_with(otlp={"endpoint": receiver.url, "batch": batch}))
        assert api.get("/api/v1/groups").status_code == 200
        assert push(api) == "ok"
        assert {heard.path for heard in receiver.heard} == {"/v1/metrics"}
        assert (len(receiver.heard) > 1) == (batch == 100)
        assert pushed(of_otlp(receiver)) == served(api)


@pytest.mark.parametrize("batch", [100, 50_000])
def test_influxdb_has_all_of_a_scrape(batch: int) -> None:
    with http_receiver() as receiver:
        api = fill_nastily(api_with(influxdb={"url": receiver.url, "batch": batch}))
        assert api.get("/api/v1/groups").status_code == 200
        assert push(api) == "ok"
        assert {heard.path for heard in receiver.heard} == {"/write?db=warren"}
        expected = renamed(
            served(api), lambda _, v: re.sub(r"[\x00-\x1f\x7f\\]", lambda m: f"%{ord(m[0]):02X}", v)
        )
        assert pushed(of_influxdb(receiver)) == expected


@pytest.mark.parametrize("batch", [100, 50_000])
def test_graphite_has_all_of_a_scrape(batch: int) -> None:
    with tcp_receiver() as receiver:
        api = fill_nastily(api_with(graphite={"address": receiver.address, "batch": batch}))
        assert api.get("/api/v1/groups").status_code == 200
        assert push(api) == "ok"
        expected = renamed(served(api), node)
        eventually(
            lambda: pushed(of_graphite(receiver.lines())) == expected,
            message="all that a scrape says",
        )
        assert (receiver.connections > 1) == (batch == 100)


def test_graphite_has_labels_in_the_path_too() -> None:
    with tcp_receiver() as receiver:
        settings = {"address": receiver.address, "tags": False, "prefix": "kafka.lag"}
        api = api_with(graphite=settings)
        api.put("billing", total_lag=7)
        assert push(api) == "ok"
        name = "kafka.lag.warren_group_lag.cluster.demo.group.billing 7.0 "
        eventually(
            lambda: any(line.startswith(name) for line in receiver.lines()), message="the group"
        )


def test_types_units_and_starts_are_told() -> None:
    with http_receiver() as receiver:
        api = api_with(otlp={"endpoint": receiver.url, "labels": {"site": "north"}})
        api.put("billing", total_lag=7)
        api.get("/metrics")
        assert push(api) == "ok"
        (heard,) = receiver.heard
    (resource,) = ExportMetricsServiceRequest.FromString(heard.body).resource_metrics
    attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert attributes["service.name"] == "warren"
    assert attributes["site"] == "north"
    assert attributes["service.instance.id"]
    metrics = {metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics}
    requests = metrics["warren_api_requests_total"].sum
    assert requests.is_monotonic
    assert requests.aggregation_temporality == 2  # cumulative
    (lag,) = metrics["warren_group_lag"].gauge.data_points
    assert lag.time_unix_nano == NOW * 1_000_000
    assert lag.start_time_unix_nano == 0
    duration = metrics["warren_api_request_seconds"]
    assert duration.unit == "s"
    assert duration.histogram.aggregation_temporality == 2
    for point in [*requests.data_points, *duration.histogram.data_points]:
        assert point.start_time_unix_nano > 0
    assert all(not point.HasField("max") for point in duration.histogram.data_points)
    assert metrics["warren_group_lag"].description


def test_units_are_those_of_the_name() -> None:
    assert unit("warren_api_request_seconds") == "s"
    assert unit("warren_collector_published_bytes") == "By"
    assert unit("warren_group_lag") == ""


def test_a_receiver_has_a_detail_and_origins_of_its_own() -> None:
    with http_receiver() as receiver:
        fine = {"url": receiver.url, "detail": "group", "origins": ["warren"]}
        api = fill_nastily(api_with(influxdb=fine))
        assert push(api) == "ok"
        names = set(of_influxdb(receiver))
    assert "warren_group_lag" in names
    assert not [n for n in names if n.startswith(("warren_topic", "warren_partition", "kafka_"))]


def test_labels_are_added_and_never_replace() -> None:
    with http_receiver() as receiver:
        more = {"instance": "a b", "group": "mine"}
        api = api_with(influxdb={"url": receiver.url, "labels": more})
        api.put("billing", total_lag=7)
        assert push(api) == "ok"
        found = of_influxdb(receiver)["warren_group_lag"]
    assert found == {(("cluster", "demo"), ("group", "billing"), ("instance", "a b")): 7.0}


def test_the_second_interface_of_influxdb() -> None:
    with http_receiver() as receiver:
        api = api_with(
            influxdb={"url": receiver.url, "bucket": "b&c", "org": "o", "token": "let-me-in"}
        )
        assert push(api) == "ok"
        heard = receiver.heard[0]
    assert heard.path == "/api/v2/write?org=o&bucket=b%26c&precision=ns"
    assert heard.headers["authorization"] == "Token let-me-in"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_no_name_makes_a_line_or_a_label_of_its_own(name: str) -> None:
    written = line(Sample("warren_group_lag", {"group": name, "topic": "t"}, 1.0), NOW)
    assert "\n" not in written
    point = parse_line(written)
    assert point["measurement"] == "warren_group_lag"
    assert point["tags"].keys() == {"group", "topic"}
    assert point["tags"]["topic"] == "t"
    assert point["time"] == NOW * 1_000_000
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,200}", node("group", name))


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
)
def test_no_two_groups_are_one_series_in_graphite(one: str, other: str) -> None:
    assert (node("group", one) == node("group", other)) == (one == other)


def test_topics_are_still_known_by_their_names_in_graphite() -> None:
    assert node("topic", "orders.v1") == "orders_v1"
    assert node("group", "a.b") != node("group", "a_b") == "a_b"
    assert len(node("topic", "t" * 249)) == 200
