"""docs/metrics.md from the metric catalogue."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase
from warren.metrics import API_FAMILIES, REGISTRIES
from warren.metrics.family import DETAILS, Detail, Origin

INTRODUCTION = """# Metrics

Generated from `warren.metrics`; do not edit.

Each service serves its own metrics; the API's are at `/metrics` of its port, the others' at
`/metrics` of the `metrics_port` in their section of warren.toml (0 turns the port off). All serve
`warren_build_info{version}` as well, which is 1.
"""
OF_GROUPS = """## Groups, served by the api

`api.metrics_detail` says how fine series are: with `group` those with a label `topic` are left out,
with `topic` those with a label `partition`.
`api.metrics_origins` says whose names are served. Where they are not set, all are served up to
`api.metrics_partitions` partitions of groups; above that `topic` and `warren`, which the log says
once, and `warren_api_metrics_reduced`. `/metrics?name[]=…` gives only those families.
Every api replica serves the same series of groups: aggregate by `max`, never by `sum`, over
replicas, as the rules in deploy/prometheus do.
"""
#: An installation to count series for: groups, topics of groups, partitions of groups.
OF_EACH: dict[Detail, int] = {"group": 500, "topic": 1_000, "partition": 10_000}
SERIES = """Series of {group:,} groups, {topic:,} topics and {partition:,} partitions at most:

| metrics_detail | all names | `metrics_origins = ["warren"]` |
|---|---|---|"""
ORIGINS: dict[Origin, str] = {
    "warren": "Warren",
    "burrow": "Burrow",
    "kafka_lag_exporter": "Kafka Lag Exporter",
    "tesla": "Tesla's Consumer Freshness Tracker",
}
HEADER = ("| metric | type | labels | meaning |", "|---|---|---|---|")


def pages() -> dict[str, str]:
    parts = [INTRODUCTION]
    for service, registry in REGISTRIES.items():
        parts += [f"## {service}", "", *HEADER, *_rows(registry)]
        if service == "api":
            alone = [family for family in API_FAMILIES if not family.labels]
            parts += [_row(f.name, f.type, (), f.documentation) for f in alone]
        parts.append("")
    parts += [OF_GROUPS, SERIES.format(**OF_EACH), *_series(), ""]
    for origin, name in ORIGINS.items():
        rows = [f for f in API_FAMILIES if f.labels and f.origin == origin]
        parts += [f"### Names of {name} (`{origin}`)", "", *HEADER]
        parts += [_row(f.name, f.type, f.labels, f.documentation) for f in rows]
        parts.append("")
    return {"metrics.md": "\n".join(parts)}


def _rows(registry: CollectorRegistry) -> Iterator[str]:
    # The registry's public interface gives samples, not the declared metrics with their labels.
    for collector in registry._collector_to_names:
        if isinstance(collector, MetricWrapperBase) and collector._name != "warren_build_info":
            kind = collector._type or "untyped"
            name = collector._name + ("_total" if kind == "counter" else "")
            yield _row(name, kind, collector._labelnames, collector._documentation)


def _series() -> Iterator[str]:
    """At most: every figure known, no two groups on a partition."""
    for detail in DETAILS:
        fine = [f for f in API_FAMILIES if f.labels and f.is_within(detail)]
        whole, ours = (
            sum(OF_EACH[f.detail] for f in fine if f.origin in origins)
            for origins in (ORIGINS, ("warren",))
        )
        yield f"| {detail} | {whole:,} | {ours:,} |"


def _row(name: str, kind: str, labels: tuple[str, ...], documentation: str) -> str:
    return f"| `{name}` | {kind} | {', '.join(labels)} | {documentation} |"
