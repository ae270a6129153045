"""Prometheus' families as OpenTelemetry's metrics: names stay what they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.export import Metric as OtlpMetric
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client.core import Metric
from prometheus_client.samples import Sample

from warren_api.push.batches import measured

_MS = 1_000_000  # nanoseconds
_UNKNOWN: Any = None  # the smallest and the largest value: the exporter leaves them out
_CUMULATIVE = AggregationTemporality.CUMULATIVE
_UNITS = {"seconds": "s", "bytes": "By", "ms": "ms"}  # of UCUM, by the end of a name

Key = tuple[tuple[str, str], ...]


class OtlpData:
    """With the resource that all of it is about."""

    def __init__(self, resource: Resource, started_at: int) -> None:
        """Counters of which it is not known since when they count began at `started_at`."""
        self._resource = resource
        self._started = started_at * _MS

    def of(self, batch: Sequence[Metric], at: int) -> MetricsData:
        """`at`: Unix milliseconds, when all of it was so."""
        found = [self._metric(metric, at * _MS) for metric in batch]
        scope = ScopeMetrics(InstrumentationScope("warren"), found, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])

    def _metric(self, metric: Metric, at: int) -> OtlpMetric:
        data: Sum | Histogram | Gauge
        name = metric.name
        if metric.type == "counter":
            name = f"{name}_total"
            data = Sum(self._points(metric, at, self._starts(metric)), _CUMULATIVE, True)
        elif metric.type == "histogram":
            data = Histogram(self._histograms(metric, at), _CUMULATIVE)
        else:
            data = Gauge(self._points(metric, at, {}))
        return OtlpMetric(name, metric.documentation, unit(metric.name), data)

    def _points(self, metric: Metric, at: int, starts: Mapping[Key, int]) -> list[NumberDataPoint]:
        """A gauge has no start, which is 0."""
        return [
            NumberDataPoint(dict(s.labels), starts.get(_key(s), 0), at, s.value)
            for s in measured(metric)
        ]

    def _starts(self, metric: Metric) -> Mapping[Key, int]:
        """Since when each series is counted."""
        found = {_key(s): self._started for s in metric.samples}
        return found | {
            _key(s): int(s.value * 1000) * _MS
            for s in metric.samples
            if s.name.endswith("_created")
        }

    def _histograms(self, metric: Metric, at: int) -> list[HistogramDataPoint]:
        starts = self._starts(metric)
        series = dict[Key, list[Sample]]()
        for sample in measured(metric):
            series.setdefault(_key(sample), []).append(sample)
        return [_histogram(key, samples, starts[key], at) for key, samples in series.items()]


def unit(name: str) -> str:
    """As the name says it. A name without one gets none: some receivers would add it."""
    return _UNITS.get(name.rpartition("_")[2], "")


def _key(sample: Sample) -> Key:
    return tuple(sorted((n, v) for n, v in sample.labels.items() if n != "le"))


def _histogram(key: Key, samples: Iterable[Sample], start: int, at: int) -> HistogramDataPoint:
    """Buckets that count what is in them alone, not in all below them as well."""
    bounds, counts, below, total = list[float](), list[int](), 0, 0.0
    for sample in samples:
        if sample.name.endswith("_bucket"):
            bounds.append(float(sample.labels["le"]))
            counts.append(int(sample.value) - below)
            below = int(sample.value)
        elif sample.name.endswith("_sum"):
            total = sample.value
    ends = bounds[:-1]  # the last bucket has none
    return HistogramDataPoint(dict(key), start, at, below, total, counts, ends, _UNKNOWN, _UNKNOWN)
