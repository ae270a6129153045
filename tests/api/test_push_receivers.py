"""Pushes to real receivers: what they then hold is what a scrape says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from api.pushed import Samples, api_with, fill_nastily, push
from api.scraped import Labels, scrape
from api.served_api import Api
from support import push_servers
from support.push_receivers import http_receiver
from support.waiting import eventually
from warren.clock import SystemClock
from warren_api.push.graphite import node

HOW = {
    "influxdb": "make influxdb",
    "victoria-metrics": "make victoria-metrics",
    "carbon": "make carbon",
    "collector": "make collector",
}


def command(name: str) -> str:
    found = push_servers.binary(name)
    if found is None:
        pytest.skip(f"no {name}: nothing is pushed to a real one; `{HOW[name]}` gets it")
    return found


def filled(**push: Any) -> Api:
    api = api_with(**push)
    api.clock = SystemClock()  # type: ignore[assignment]  # receivers ask what time it is
    api.__post_init__()
    fill_nastily(api)
    assert api.get("/api/v1/groups").status_code == 200
    return api


def of_groups(samples: Samples) -> Samples:
    """Without the api's own, and what grows with time."""
    return {
        name: series
        for name, series in samples.items()
        if not name.startswith("warren_api_") and "incident_seconds" not in name
    }


def influxdb_says(value: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\\]", lambda found: f"%{ord(found[0]):02X}", value)


def said(api: Api, text: Any) -> Samples:
    """What a scrape says, in the receiver's words."""
    return {
        name: {tuple((n, text(n, v)) for n, v in labels if v): value for labels, value in s.items()}
        for name, s in of_groups(scrape(api)).items()
    }


def key(labels: dict[str, str]) -> Labels:
    return tuple(sorted((name, value) for name, value in labels.items() if value))


def test_influxdb_holds_what_a_scrape_says(tmp_path: Path) -> None:
    with push_servers.influxdb(command("influxdb"), tmp_path) as url:
        api = filled(influxdb={"url": url, "database": "kafka", "batch": 1_000})
        assert push(api) == "refused"  # there is no such database yet
        created = httpx.post(f"{url}/query", params={"q": "CREATE DATABASE kafka"})
        assert created.is_success
        assert push(api) == "ok"
        query = {"db": "kafka", "q": "SELECT last(value) FROM /.*/ GROUP BY *"}
        answer = httpx.get(f"{url}/query", params=query, timeout=60).json()
        found: Samples = {}
        for series in answer["results"][0]["series"]:
            found.setdefault(series["name"], {})[key(series["tags"])] = series["values"][0][1]
        assert of_groups(found) == said(api, lambda _, value: influxdb_says(value))


def test_a_sample_that_influxdb_refuses_is_counted(tmp_path: Path) -> None:
    with push_servers.influxdb(command("influxdb"), tmp_path) as url:
        api = filled(influxdb={"url": url})
        httpx.post(f"{url}/query", params={"q": "CREATE DATABASE warren"})
        other = httpx.post(
            f"{url}/write", params={"db": "warren"}, content='warren_cluster_state value="text"'
        )
        assert other.is_success
        assert push(api) == "partial"


def test_victoria_metrics_takes_the_newer_interface_of_influxdb(tmp_path: Path) -> None:
    with push_servers.victoria_metrics(command("victoria-metrics"), tmp_path) as (url, _):
        api = filled(influxdb={"url": url, "bucket": "b", "org": "o", "token": "t"})
        assert push(api) == "ok"
        expected = said(api, lambda _, value: influxdb_says(value))
        eventually(lambda: exported(url) == expected, message="all that a scrape says")


def test_victoria_metrics_takes_graphite(tmp_path: Path) -> None:
    with push_servers.victoria_metrics(command("victoria-metrics"), tmp_path) as (url, address):
        api = filled(graphite={"address": address, "batch": 1_000})
        assert push(api) == "ok"
        expected = said(api, node)
        eventually(lambda: exported(url) == expected, message="all that a scrape says")


def exported(url: str) -> Samples:
    found: Samples = {}
    for metric, value in push_servers.exported(url):
        found.setdefault(metric.pop("__name__"), {})[key(metric)] = value
    return of_groups(found)


@pytest.mark.parametrize("tags", [True, False])
def test_carbon_holds_every_series(tags: bool, tmp_path: Path) -> None:
    with push_servers.carbon(command("carbon"), tmp_path) as carbon:
        api = filled(graphite={"address": carbon.address, "prefix": "kafka", "tags": tags})
        assert push(api) == "ok"
        one, other = (";", "=") if tags else (".", ".")

        def missing() -> list[str]:
            names = {
                f"kafka.{name}"
                + "".join(f"{one}{label}{other}{value}" for label, value in labels): number
                for name, series in said(api, node).items()
                for labels, number in series.items()
            }
            return [name for name, number in names.items() if carbon.values(name) != [number]]

        eventually(lambda: not missing(), message="every series is there")


def test_a_collector_hands_on_what_a_scrape_says(tmp_path: Path) -> None:
    with (
        http_receiver() as sink,
        push_servers.collector(command("collector"), tmp_path, sink.url) as url,
    ):
        api = filled(otlp={"endpoint": url, "batch": 1_000, "labels": {"site": "north"}})
        assert push(api) == "ok"
        expected = of_groups(scrape(api))

        def handed_on() -> Samples:
            return of_groups(gauges([json.loads(heard.body) for heard in sink.heard]))

        eventually(lambda: handed_on() == expected, message="all that a scrape says")
        resource = json.loads(sink.heard[0].body)["resourceMetrics"][0]["resource"]
        assert attributes(resource)["service.name"] == "warren"
        assert attributes(resource)["site"] == "north"
        kinds = {
            metric["name"]: metric
            for heard in sink.heard
            for resource in json.loads(heard.body)["resourceMetrics"]
            for scope in resource["scopeMetrics"]
            for metric in scope["metrics"]
        }
        assert kinds["warren_api_requests_total"]["sum"]["isMonotonic"]
        assert "histogram" in kinds["warren_api_request_seconds"]


def gauges(requests: list[Any]) -> Samples:
    found: Samples = {}
    for request in requests:
        for resource in request["resourceMetrics"]:
            for scope in resource["scopeMetrics"]:
                for metric in scope["metrics"]:
                    for point in metric.get("gauge", {}).get("dataPoints", []):
                        labels = attributes(point)
                        found.setdefault(metric["name"], {})[key(labels)] = point["asDouble"]
    return found


def attributes(of: dict[str, Any]) -> dict[str, str]:
    return {each["key"]: each["value"]["stringValue"] for each in of.get("attributes", [])}
