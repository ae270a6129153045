"""What is pushed, read as a receiver reads it: samples by name and sorted labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from api.scraped import Labels
from api.served_api import Api, late, topic
from line_protocol_parser import parse_line
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from support.push_receivers import HttpReceiver
from warren.settings import ApiSettings
from warren.settings.push import PushSettings
from warren_api.push.pusher import Pusher
from warren_api.push.pushes import configured
from warren_api.push.result import Result

Samples = dict[str, dict[Labels, float]]

GRAPHITE_LINE = re.compile(r"[a-zA-Z0-9_.-]+(;[a-zA-Z0-9_-]+=[a-zA-Z0-9_-]+)* \S+ [0-9]+")

NASTY = [
    'evil"\n# TYPE injected gauge\ninjected 1',
    "a b,c=d",
    'quoted "name"',
    "back\\slash\\",
    "back\\,topic=other\\ x=1",
    "größe/ünïcode/\u2028日本",
    "100%s %d %% {0}",
    "a;b=c~",
    "t" * 249,
    "\x00\t\r",
]
NASTY_TOPIC = "o" * 249


def api_with(**push: Any) -> Api:
    return Api(api=ApiSettings(push=PushSettings.model_validate(push)))


def fill_nastily(api: Api) -> Api:
    """Groups of all the names, with incidents, members and freshness."""
    for name in NASTY:
        api.put(name, status="WARN", total_lag=7, topics={NASTY_TOPIC: topic({}, {"lag": 7})})
        api.measure(name, late(1_500), late(0), topic=NASTY_TOPIC)
        api.describe(name)
    return api


@contextmanager
def pusher(api: Api) -> Iterator[Pusher]:
    """The only one that the settings name; pushes when it is told."""
    (only,) = configured(api.context).pushers
    with closing(only):
        yield only


def push(api: Api) -> Result:
    """Once."""
    with pusher(api) as one:
        return one.push(30)


def of_otlp(receiver: HttpReceiver) -> Samples:
    """Histograms as Prometheus has them."""
    found: Samples = {}
    for heard in receiver.heard:
        for resource in ExportMetricsServiceRequest.FromString(heard.body).resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for name, labels, value in _points(metric):
                        assert labels not in found.setdefault(name, {}), "one point per series"
                        found[name][labels] = value
    return found


def _points(metric: Any) -> Any:
    kind = metric.WhichOneof("data")
    for point in getattr(metric, kind).data_points:
        own = {each.key: each.value.string_value for each in point.attributes}
        if kind != "histogram":
            yield metric.name, _sorted(own), point.as_double
            continue
        below = 0
        for count, bound in zip(
            point.bucket_counts, [*point.explicit_bounds, float("inf")], strict=True
        ):
            below += count
            le = "+Inf" if bound == float("inf") else str(bound)
            yield f"{metric.name}_bucket", _sorted({**own, "le": le}), float(below)
        yield f"{metric.name}_count", _sorted(own), float(point.count)
        yield f"{metric.name}_sum", _sorted(own), point.sum


def of_influxdb(receiver: HttpReceiver) -> Samples:
    found: Samples = {}
    for heard in receiver.heard:
        for line in heard.body.decode().split("\n"):
            point = parse_line(line)
            assert list(point["fields"]) == ["value"]
            labels = _sorted(point["tags"])
            assert labels not in found.setdefault(point["measurement"], {})
            found[point["measurement"]][labels] = float(point["fields"]["value"])
    return found


def of_graphite(lines: list[str]) -> Samples:
    """By tags."""
    found: Samples = {}
    for line in lines:
        assert GRAPHITE_LINE.fullmatch(line), line
        series, value, _ = line.split(" ")
        name, *tags = series.split(";")
        labels = _sorted(dict(tag.split("=") for tag in tags))
        assert labels not in found.setdefault(name, {}), "no two series have become one"
        found[name][labels] = float(value)
    return found


def _sorted(labels: dict[str, str]) -> Labels:
    return tuple(sorted(labels.items()))
