"""The samples of one scrape in batches, as prometheus_client has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import Metric
from prometheus_client.samples import Sample
from warren.metrics import api as metrics

from warren_api.context import ApiContext
from warren_api.metrics.scrape import Extent, scrape
from warren_api.metrics.series import Collected

Batch = list[Metric]
SIZE = 5_000  # samples in a request: about 1 MB; OpenTelemetry's collector takes 20 MB by default


def batches(context: ApiContext, extent: Extent, size: int = SIZE) -> Iterator[Batch]:
    """All families within the extent, each batch of `size` samples at most; made when it is asked
    for, so that there is one at a time.

    A family of the api's own counters is not divided: a histogram's samples are one thing.
    """
    batch: Batch = []
    room = size
    for metric in _parts(context, extent, size):
        count = len(measured(metric))
        if batch and count > room:
            yield batch
            batch, room = [], size
        if count:
            batch.append(metric)
            room -= count
    if batch:
        yield batch


def measured(metric: Metric) -> list[Sample]:
    """Without those that only say since when is counted."""
    is_counted = metric.type in ("counter", "histogram")
    return [s for s in metric.samples if not (is_counted and s.name.endswith("_created"))]


def _parts(context: ApiContext, extent: Extent, size: int) -> Iterator[Metric]:
    yield from metrics.API.collect()
    for collected in scrape(context, extent):
        samples: list[Sample] = []
        for sample in _samples(collected):
            samples.append(sample)
            if len(samples) == size:
                yield _metric(collected, samples)
                samples = []
        yield _metric(collected, samples)


def _samples(collected: Collected) -> Iterator[Sample]:
    for lines, values in collected.parts:
        for labels, value in lines.labels(values):
            yield Sample(collected.family.name, labels, float(value))


def _metric(collected: Collected, samples: Iterable[Sample]) -> Metric:
    family = collected.family
    kind = "unknown" if family.type == "untyped" else family.type
    metric = Metric(family.name, family.documentation, kind)
    metric.samples = list(samples)
    return metric
