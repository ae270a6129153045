"""The rules and the dashboards name what there is, and count no replica twice."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from warren.metrics import API_FAMILIES, REGISTRIES

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = yaml.safe_load((DEPLOY / "prometheus/warren-rules.yml").read_text())
DASHBOARDS = sorted((DEPLOY / "grafana").glob("*.json"))
BY_NAME = {family.name: family for family in API_FAMILIES}
METRIC = re.compile(r"\b(?:warren|burrow|kafka)_\w+")


def rules() -> list[dict[str, Any]]:
    return [rule for group in RULES["groups"] for rule in group["rules"]]


def expressions() -> Iterator[tuple[str, str]]:
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for file in DASHBOARDS:
        dashboard = json.loads(file.read_text())
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                yield f"{file.stem}: {panel['title']}", target["expr"]
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                yield f"{file.stem}: ${variable['name']}", variable["definition"]


def exposed() -> dict[str, set[str]]:
    """Sample names of every service with their labels."""
    found = {name: set(family.labels) for name, family in BY_NAME.items()}
    for registry in REGISTRIES.values():
        for collector in registry._collector_to_names:
            labels = set(getattr(collector, "_labelnames", ()))
            for name in registry._collector_to_names[collector]:
                found[name] = labels | {"le"}
    return found


def test_metrics_and_labels_exist() -> None:
    known = exposed()
    for where, expression in expressions():
        names = METRIC.findall(expression)
        assert names, where
        assert set(names) <= known.keys()
        labels = {"instance", "__name__"}.union(*(known[name] for name in names))  # Prometheus' own
        labels |= set(re.findall(r"label_replace\(.*?, \"(\w+)\", \"\$1\"", expression))
        grouped = {
            label.strip()
            for listed in re.findall(r"by \(([^)]*)\)", expression)
            for label in listed.split(",")
        }
        selected = set(re.findall(r"([a-z_]+)(?:=~|!~|!=|=)\"", expression))
        assert grouped | selected <= labels
        assert expression.count("(") == expression.count(")")


def test_replicas_are_not_added_up() -> None:
    """Each series of groups is aggregated first, and by max or min."""
    named = [(*each, name) for each in expressions() for name in METRIC.findall(each[1])]
    for where, expression, name in named:
        is_choice = expression.startswith("label_values(")
        if name in BY_NAME and BY_NAME[name].labels and not is_choice:
            before = expression[: expression.index(name)]
            assert re.search(
                r"(max|min)( by \([a-z, ]*\))? ?\(((changes|deriv|max_over_time)\()?$", before
            ), where


def test_rules_are_complete() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        severities = re.findall(r"warning|critical", rule["labels"]["severity"])
        plain = severities == [rule["labels"]["severity"]]
        assert plain or len(severities) == 2  # the objective's own
        assert rule["annotations"].keys() == {"summary", "description", "runbook"}
        used = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        kept = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", rule["expr"]))))
        assert used <= (kept or {"instance"})


def test_every_alert_has_its_section_of_the_runbook() -> None:
    page = (DEPLOY.parent / "docs/alerts.md").read_text()
    sections = re.findall(r"^### (\w+)$", page, re.MULTILINE)
    assert sections == [rule["alert"] for rule in rules()]
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/alerts.md#{rule['alert'].lower()}"


def test_the_scrape_configuration_loads_the_rules() -> None:
    prometheus = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    assert prometheus["rule_files"] == ["warren-rules.yml"]
    jobs = [job["job_name"] for job in prometheus["scrape_configs"]]
    assert jobs == ["warren-api", "warren-services"]
    tests = yaml.safe_load((DEPLOY / "prometheus/warren-rules-test.yml").read_text())
    firing = {
        case["alertname"]
        for test in tests["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    assert firing == {rule["alert"] for rule in rules()}, "each is seen to fire"


def test_the_targets_are_the_services_of_compose() -> None:
    """All that serve metrics, each at the port that its environment gives it."""
    compose = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text())["services"]
    served = {
        f"{name}:{port}"
        for name, service in compose.items()
        for setting, port in service.get("environment", {}).items()
        if setting in {f"WARREN_{name.upper()}__METRICS_PORT", f"WARREN_{name.upper()}__PORT"}
    }
    prometheus = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    api, services = prometheus["scrape_configs"]
    (found,) = services["dns_sd_configs"]
    listed = {f"{name}:{found['port']}" for name in found["names"]}
    assert listed | set(api["static_configs"][0]["targets"]) == served
