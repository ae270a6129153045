"""OTLP over HTTP, by OpenTelemetry's exporter, which its own environment variables configure.

Prometheus' families become OpenTelemetry's metrics; names stay what they are. The exporter logs
what the receiver says, which may be what it was sent. So that logger is off, and a session of ours
keeps the answer.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from socket import gethostname
from time import monotonic
from typing import Any

import requests
from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.http import Compression, metric_exporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_COMPRESSION,
    OTEL_EXPORTER_OTLP_HEADERS,
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION,
    OTEL_EXPORTER_OTLP_METRICS_HEADERS,
)
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.export import Metric as OtlpMetric
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.util.re import parse_env_headers
from prometheus_client.core import Metric
from prometheus_client.samples import Sample
from warren.errors import SettingsError
from warren.redaction import Redaction

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


MOST_BYTES = 65_536  # of an answer: a partial success with its message
SAID = 300  # characters of an answer that the log shows
ANSWER_SECONDS = 10.0  # in which an answer that has begun must be complete


class OtlpReceiver:
    """A collector, or what else takes OTLP over HTTP. Used by one thread."""

    def __init__(self, started_at: int) -> None:
        """Counters began at `started_at` at last, Unix milliseconds. Raises SettingsError."""
        own = {
            "service.name": "warren",
            "service.instance.id": gethostname(),
            "service.version": version("warren-api"),
        }
        self._data = OtlpData(Resource(own).merge(OTELResourceDetector().detect()), started_at)
        self._session = _Session()
        self._redaction = Redaction(_header_values())
        self._exporter = metric_exporter.OTLPMetricExporter(
            compression=_compression(), session=self._session
        )
        logging.getLogger(metric_exporter.__name__).disabled = True

    def send(self, batch: Sequence[Metric], at: int) -> int | None:
        """How many samples of one moment were refused; None: none was taken, `problem` says why."""
        self._session.rejected, self._session.problem = 0, "not written as OTLP"
        if self._exporter.export(self._data.of(batch, at)) is MetricExportResult.SUCCESS:
            return self._session.rejected
        return None

    @property
    def problem(self) -> str:
        """What the receiver said last, or why it said nothing; without what it was sent."""
        return self._redaction(self._session.problem, cut=True)

    def close(self) -> None:
        """End connections and the wait for another attempt. Any thread may do it."""
        self._exporter.shutdown()


class _Session(requests.Session):
    """Reads no answer without an end, and keeps what the exporter does not tell."""

    rejected = 0
    problem = ""

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Raise RequestException where nobody answers, or where no receiver of OTLP does."""
        self.cookies.clear()  # nobody's, and they would grow with each answer
        try:
            response = super().send(request, **{**options, "stream": True})
            response._content = body = _read(response)
        except Exception as error:
            self.problem = _cause(error)
            raise
        said = " ".join(body.decode("utf-8", "replace").split())[:SAID]
        self.problem = f"HTTP {response.status_code}: {said}"
        # The exporter takes a redirect for a success, and a page to log in as well.
        if response.is_redirect or "html" in response.headers.get("content-type", ""):
            raise requests.RequestException(self.problem)
        if response.ok:
            self._note_partial_success(body)
        return response

    def _note_partial_success(self, body: bytes) -> None:
        """An answer that cannot be read says nothing of it."""
        try:
            said = ExportMetricsServiceResponse.FromString(body).partial_success
        except DecodeError:
            return
        self.rejected = said.rejected_data_points
        self.problem = f"{self.rejected} samples rejected: {said.error_message[:SAID]}"


def _read(response: requests.Response) -> bytes:
    """The beginning of the body. Each read has the request's timeout, all together have ours."""
    until, body = monotonic() + ANSWER_SECONDS, b""
    with response:
        while len(body) < MOST_BYTES:
            part = response.raw.read1(MOST_BYTES)
            if not part:
                break
            if monotonic() > until:
                raise requests.RequestException("an answer without an end")
            body += part
    return body[:MOST_BYTES]


def _cause(error: BaseException) -> str:
    """The first error of a chain: it names neither the URL nor what was sent."""
    while error.__context__ is not None:
        error = error.__context__
    said = error.strerror if isinstance(error, OSError) else None
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _header_values() -> list[str]:
    """Raise SettingsError for headers that cannot be read: the library would log them."""
    logging.getLogger(parse_env_headers.__module__).disabled = True
    found: list[str] = []
    for name in (OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_METRICS_HEADERS):
        for written in filter(str.strip, os.environ.get(name, "").split(",")):
            values = parse_env_headers(written, liberal=True).values()
            if not values:
                raise SettingsError(name, "write name=value,name=value, with values URL-encoded")
            found += values
    return found


def _compression() -> Compression | None:
    """Gzip unless the environment names one: series are much alike."""
    names = (OTEL_EXPORTER_OTLP_COMPRESSION, OTEL_EXPORTER_OTLP_METRICS_COMPRESSION)
    return None if any(map(os.environ.get, names)) else Compression.Gzip
