"""InfluxDB's line protocol, written by its client: measurement the metric's name, tags its labels,
one field `value`.
"""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from influxdb_client.client.write.point import Point
from prometheus_client.core import Metric
from prometheus_client.samples import Sample
from warren.settings.push import InfluxDbSettings

from warren_api.push.batches import measured
from warren_api.push.receiver import BatchRefused
from warren_api.push.wire import Wire

# The protocol has no way to write a backslash before what it escapes, nor a line feed.
_UNSPEAKABLE = re.compile(r"[\x00-\x1f\x7f\\]")
_Point: Any = Point  # its methods are without types
_DROPPED = re.compile(r"partial write.*dropped=(\d+)")


class InfluxDbReceiver:
    """Version 1 (a database) or 2 and newer (a bucket)."""

    def __init__(self, settings: InfluxDbSettings, wire: Wire) -> None:
        self._wire = wire
        self._url = f"{settings.url}{_path(settings)}"
        self._headers = {"content-encoding": "gzip", "content-type": "text/plain; charset=utf-8"}
        self._headers |= _authorization(settings)

    def send(self, batch: Sequence[Metric], at: int, timeout: float) -> int:
        text = "\n".join(line(sample, at) for metric in batch for sample in measured(metric))
        content = gzip.compress(text.encode(), compresslevel=1)
        try:
            self._wire.post(self._url, content, self._headers, timeout)
        except BatchRefused as refused:
            if found := _DROPPED.search(str(refused)):  # the others were taken
                return int(found[1])
            raise
        return 0

    def close(self) -> None:
        self._wire.close()


def line(sample: Sample, at: int) -> str:
    """`at`: Unix milliseconds."""
    point = _Point(sample.name).field("value", sample.value).time(at * 1_000_000)
    for name, value in sample.labels.items():
        point.tag(name, _UNSPEAKABLE.sub(_percent, value))
    written: str = point.to_line_protocol()
    return written


def _percent(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def _path(settings: InfluxDbSettings) -> str:
    if settings.bucket:
        asked = {"org": settings.org, "bucket": settings.bucket, "precision": "ns"}
        return f"/api/v2/write?{urlencode(asked)}"
    return f"/write?{urlencode({'db': settings.database})}"


def _authorization(settings: InfluxDbSettings) -> Mapping[str, str]:
    if token := settings.token.get_secret_value():
        return {"authorization": f"Token {token}"}
    if settings.username:
        pair = f"{settings.username}:{settings.password.get_secret_value()}"
        return {"authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    return {}
