"""Graphite's plain text, through prometheus_client's own bridge.

A name there has few characters. What had to be changed ends in a hash of the whole, so that two
groups are never one series; but for dots in topics: Kafka has no two that differ in `.` and `_`
alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from prometheus_client.bridge.graphite import GraphiteBridge
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from warren.settings.push import GraphiteSettings, host_and_port

from warren_api.push.batches import measured
from warren_api.push.receiver import Unanswered

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 200  # characters: carbon makes files and directories of them
_HASH = 8


class GraphiteReceiver:
    """A connection for each batch, as the bridge does it. Carbon answers nothing."""

    def __init__(self, settings: GraphiteSettings) -> None:
        self._address = host_and_port(settings.address)
        self._settings = settings

    def send(self, batch: Sequence[Metric], at: int, timeout: float) -> int:  # noqa: ARG002 - the bridge has its own second
        bridge = GraphiteBridge(
            self._address,
            _Batch(batch),
            timeout_seconds=timeout,
            tags=self._settings.tags,
        )
        try:
            bridge.push(self._settings.prefix)
        except OSError as error:
            failure = Unanswered(type(error).__name__, error.strerror or str(error))
        else:
            return 0
        raise failure  # here, so that it does not hold on to the bridge's connection and text

    def close(self) -> None:
        """Nothing is open."""


class _Batch(Collector):
    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        for metric in self._metrics:
            named = Metric(metric.name, metric.documentation, metric.type)
            named.samples = [
                sample._replace(labels=_labels(sample.labels)) for sample in measured(metric)
            ]
            yield named


def _labels(labels: dict[str, str]) -> dict[str, str]:
    """Without empty ones, which say as little as none and which Graphite does not take."""
    return {name: node(name, value) for name, value in labels.items() if value}


@lru_cache(maxsize=2**14)
def node(label: str, value: str) -> str:
    """A label's value as a tag's, or as a node of a path."""
    plain = _OTHER.sub("_", value)
    kept = value.replace(".", "_") if label == "topic" else value
    if label == "le" or (plain == kept and len(plain) <= _LONGEST):
        return plain
    digest = hashlib.sha256(value.encode()).hexdigest()[:_HASH]
    return f"{plain[: _LONGEST - _HASH - 1]}-{digest}"
