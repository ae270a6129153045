"""Every panel of every dashboard has data of a running Warren, every alert rule is evaluated."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.prometheus import Prometheus, prometheus, running_prometheus
from support.running import METRICS_OF, Running
from support.waiting import eventually

pytestmark = [pytest.mark.timeout(600), pytest.mark.spark]

GRAFANA = Path(__file__).parents[2] / "deploy/grafana"
EACH = pytest.mark.parametrize("name", sorted(file.stem for file in GRAFANA.glob("*.json")))
SELECTOR = re.compile(r"\b(warren_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!=|!~|=)"([^"]*)"')
Samples = dict[str, list[dict[str, str]]]


def expressions(name: str) -> Iterator[tuple[str, str]]:
    """Panel and what it asks, of any group and any topic: some have each figure, none has all."""
    for panel in json.loads((GRAFANA / f"{name}.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            chosen = re.sub(r'=~?"\$\w+"', '=~".+"', target["expr"])
            assert "$" not in chosen
            yield panel["title"], chosen


def targets(warren: Running) -> list[str]:
    """Where Warren's services serve metrics."""
    api = httpx.URL(warren.run["api"])
    ports = [warren.metrics_port(service) for service in METRICS_OF]
    return [f"{api.host}:{api.port}", *(f"{api.host}:{port}" for port in ports)]


def scraped(warren: Running) -> Samples:
    found: Samples = {}
    for target in targets(warren):
        for family in text_string_to_metric_families(_text(target)):
            for sample in family.samples:
                found.setdefault(sample.name, []).append(sample.labels)
    return found


def _text(target: str) -> str:
    try:
        return httpx.get(f"http://{target}/metrics", timeout=30).text
    except httpx.TransportError:
        return ""  # Spark takes its time to start


def matches(labels: dict[str, str], selector: str) -> bool:
    tests = {
        "=": lambda value, wanted: value == wanted,
        "!=": lambda value, wanted: value != wanted,
        "=~": lambda value, wanted: re.fullmatch(wanted, value) is not None,
        "!~": lambda value, wanted: re.fullmatch(wanted, value) is None,
    }
    return all(
        tests[how](labels.get(label, ""), wanted)
        for label, how, wanted in MATCHER.findall(selector)
    )


def selectors(name: str) -> Iterator[tuple[str, str]]:
    """But for those that need not select anything: of what should not happen."""
    for _, expression in expressions(name):
        if not expression.endswith("or vector(0)"):
            yield from SELECTOR.findall(expression)


@EACH
def test_every_panel_selects_series_that_warren_serves(warren: Running, name: str) -> None:
    lacking = set(selectors(name))

    def selects(metric: str, selector: str, samples: Samples) -> bool:
        return any(matches(labels, selector) for labels in samples.get(metric, []))

    def all_select() -> bool:
        samples = scraped(warren)
        lacking.difference_update([each for each in lacking if selects(*each, samples)])
        return not lacking

    try:
        eventually(all_select, timeout=240, message="series")
    except AssertionError:
        pytest.fail(f"without series: {sorted(lacking)}")


@pytest.fixture(scope="module")
def server(warren: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    binary = prometheus()
    if binary is None:
        pytest.skip("no Prometheus: `make prometheus` installs it")
    folder = tmp_path_factory.mktemp("prometheus")
    with running_prometheus(binary, folder, targets(warren)) as running:
        yield running


@EACH
def test_every_panel_has_data(server: Prometheus, name: str) -> None:
    empty = set(expressions(name))

    def all_have() -> bool:
        empty.difference_update([each for each in empty if server.query(each[1])])
        return not empty

    try:
        eventually(all_have, timeout=240, message="data")
    except AssertionError:
        pytest.fail(f"without data: {sorted(empty)}")


def test_every_alert_rule_can_be_evaluated(server: Prometheus) -> None:
    rules: list[dict[str, Any]] = []

    def evaluated() -> bool:
        rules[:] = server.rules()
        return bool(rules) and all(rule["health"] != "unknown" for rule in rules)

    eventually(evaluated, timeout=60, message="each rule is evaluated")
    assert {rule["name"]: rule.get("lastError") for rule in rules if rule["health"] != "ok"} == {}
