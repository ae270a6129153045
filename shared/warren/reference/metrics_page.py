"""docs/metrics.md from the metric catalogue."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from warren.metrics import API_FAMILIES, REGISTRIES

INTRODUCTION = """# Metrics

Generated from `warren.metrics`; do not edit.

Each service serves its own metrics; the API's are at `/metrics` of its port, the others' at
`/metrics` of the `metrics_port` in their section of warren.toml (0 turns the port off).
"""
HEADER = ("| metric | type | labels | meaning |", "|---|---|---|---|")


def pages() -> dict[str, str]:
    parts = [INTRODUCTION]
    for service, registry in REGISTRIES.items():
        parts += [f"## {service}", "", *HEADER, *_rows(registry), ""]
    parts += ["## Groups, served by the api", "", *HEADER]
    parts += [_row(f.name, "gauge", f.labels, f.documentation) for f in API_FAMILIES]
    return {"metrics.md": "\n".join(parts) + "\n"}


def _rows(registry: CollectorRegistry) -> Iterator[str]:
    # The registry's public interface gives samples, not the declared metrics with their labels.
    for collector in registry._collector_to_names:
        if isinstance(collector, MetricWrapperBase):
            kind = collector._type or "untyped"
            name = collector._name + ("_total" if kind == "counter" else "")
            yield _row(name, kind, collector._labelnames, collector._documentation)


def _row(name: str, kind: str, labels: tuple[str, ...], documentation: str) -> str:
    return f"| `{name}` | {kind} | {', '.join(labels)} | {documentation} |"
