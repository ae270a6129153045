"""`/metrics`: what is served to whom, and how. The series themselves: test_series."""

import re

import pytest
from api.scraped import fill, labels, scrape
from api.served_api import CAUGHT_UP, NOW, Api, late, topic
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from structlog.testing import capture_logs
from warren.contracts import group_key
from warren.metrics import API_FAMILIES
from warren.metrics.family import DETAILS, Detail
from warren_api.metrics.scrape import MOST_LABEL
from warren_api.model.cluster import FeedState


@pytest.fixture
def filled(api: Api) -> Api:
    return fill(api)


def know_all(api: Api) -> None:
    """A group of which every figure is known."""
    api.put("billing", status="ERR", incident={"id": "i", "opened_at": NOW})
    row = late(
        1,
        time_to_loss_ms=1,
        retention_left=0.1,
        commit_lag_ms=1,
        append_lag_ms=1,
        produce_rate=1.0,
        consume_rate=1.0,
    )
    api.measure("billing", row, produce_rate=1.0, consume_rate=1.0, time_to_catch_up_ms=1)


def served(api: Api) -> set[str]:
    """Families of groups that /metrics has."""
    of_groups = {family.name for family in API_FAMILIES if family.labels}
    return scrape(api).keys() & of_groups


@pytest.mark.parametrize("detail", DETAILS)
def test_how_fine_the_series_are_is_a_setting(detail: Detail) -> None:
    api = Api(metrics={"metrics_detail": detail})
    know_all(api)
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
    know_all(api)
    assert served(api) == {f.name for f in API_FAMILIES if f.labels and f.origin == origin}


def test_very_many_partitions_leave_series_out_until_there_are_few() -> None:
    api = Api(metrics={"metrics_partitions": 5})

    def names() -> tuple[bool, bool]:
        families = served(api)
        return (
            any(f.detail == "partition" for f in API_FAMILIES if f.name in families),
            any(f.origin != "warren" for f in API_FAMILIES if f.name in families),
        )

    for group in "ab":
        api.put(group)
    assert names() == (True, True)
    with capture_logs() as logs:
        api.put("c")
        assert names() == (False, False)
        assert scrape(api)["warren_api_metrics_reduced"] == {(): 1}
        api.model.apply(group_key("demo", "c"), None)
        assert names() == (False, False)  # 4 of 5: not few enough to come back
        api.model.apply(group_key("demo", "b"), None)
        assert names() == (True, True)
    assert [line["partitions"] for line in logs] == [6, 2]
    assert scrape(api)["warren_api_metrics_reduced"] == {(): 0}


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


def test_every_family_is_of_the_catalogue_and_every_one_of_it_is_there(filled: Api) -> None:
    filled.measure("billing", CAUGHT_UP)
    text = filled.get("/metrics").text.splitlines()
    described = [line for line in text if line.startswith("# HELP ")]
    catalogued = [f"# HELP {family.name} {family.documentation}" for family in API_FAMILIES]
    assert len(set(described)) == len(described)
    assert set(catalogued) <= set(described)
    # What else there is tells of the API's own requests, tokens, events and series.
    others = [line.split()[2] for line in described if line not in catalogued]
    own = {"request", "requests", "connections", "tokens", "events"}
    own |= {"stalled", "metrics", "info"}
    assert {name.split("_")[2] for name in others} == own


def test_a_group_whose_name_is_no_label_has_no_series(api: Api) -> None:
    for name in ("b" * MOST_LABEL, "a" * (MOST_LABEL + 1)):
        api.put(name)
    text = api.get("/metrics").text
    assert "b" * MOST_LABEL in text
    assert "aaa" not in text


def test_whether_to_believe_the_rest(api: Api) -> None:
    assert scrape(api)["warren_api_ready"] == {(): 1}
    assert scrape(api)["warren_api_feed_working"] == {(): 1}
    api.feed = FeedState(ready=False, problem="away")
    assert scrape(api)["warren_api_ready"] == {(): 0}
    assert scrape(api)["warren_api_feed_working"] == {(): 0}


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
