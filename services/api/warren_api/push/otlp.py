"""OTLP over HTTP, written by OpenTelemetry's exporter, sent by our wire.

The exporter would try again by itself, wait for each byte anew, and log what the receiver says,
which may be what it was sent. So its requests end in an adapter of ours.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import requests
from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from prometheus_client.core import Metric
from requests.adapters import BaseAdapter
from warren.settings.push import OtlpSettings

from warren_api.push.otlp_data import OtlpData
from warren_api.push.receiver import BatchRefused, PushError
from warren_api.push.wire import Answer, Wire

PATH = "/v1/metrics"
_LOGGERS = (
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "opentelemetry.exporter.otlp.common.http",
)


class OtlpReceiver:
    """A collector, or what else takes OTLP over HTTP."""

    def __init__(
        self, settings: OtlpSettings, wire: Wire, resource: Mapping[str, str], started_at: int
    ) -> None:
        """`resource`: attributes of all that is sent; counters began at `started_at` at last."""
        for name in _LOGGERS:
            logging.getLogger(name).disabled = True
        self._wire = wire
        self._adapter = _Adapter(wire)
        self._data = OtlpData(resource, started_at)
        session = requests.Session()
        session.trust_env = False  # .netrc
        for scheme in ("http://", "https://"):
            session.mount(scheme, self._adapter)
        url = settings.endpoint
        self._exporter = OTLPMetricExporter(
            url if url.endswith(PATH) else f"{url}{PATH}",
            timeout=settings.timeout,
            compression=Compression.Gzip,
            session=session,
        )

    def send(self, batch: Sequence[Metric], at: int, timeout: float) -> int:
        return self._adapter.outcome(self._exporter, self._data.of(batch, at), timeout)

    def close(self) -> None:
        self._exporter.shutdown()
        self._wire.close()


class _Adapter(BaseAdapter):
    """Where the exporter's requests end."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire
        self._timeout = 0.0
        self._answer: Answer | None = None
        self._error: PushError | None = None

    def outcome(self, exporter: OTLPMetricExporter, data: MetricsData, timeout: float) -> int:
        """Data points that were refused. Raises PushError."""
        self._timeout, self._answer, self._error = timeout, None, None
        exported = exporter.export(data)
        if self._error is not None:
            raise self._error
        if exported is not MetricExportResult.SUCCESS or self._answer is None:
            raise BatchRefused("not written as OTLP", "too large, or its values do not fit")
        return _rejected(self._answer)

    def send(
        self,
        request: requests.PreparedRequest,
        *_unused: Any,
        **_of_requests: Any,
    ) -> requests.Response:
        body = request.body
        content = body if isinstance(body, bytes) else (body or "").encode()
        response = requests.Response()
        response.request, response.url = request, request.url or ""
        try:
            self._answer = self._wire.post(
                response.url, content, dict(request.headers), self._timeout
            )
        except PushError as error:
            self._error = error
            raise
        response.status_code = 200
        response._content = b""
        return response

    def close(self) -> None:
        """The wire is its owner's."""


def _rejected(answer: Answer) -> int:
    """From a partial success. An answer that cannot be read is none."""
    try:
        if "json" in answer.kind:
            said = json.loads(answer.body or b"{}")
            return int(said.get("partialSuccess", {}).get("rejectedDataPoints", 0))
        response = ExportMetricsServiceResponse.FromString(answer.body)
    except (AttributeError, DecodeError, TypeError, ValueError):
        return 0
    rejected: int = response.partial_success.rejected_data_points
    return rejected
