"""The samples of one scrape in batches, as prometheus_client has them: one source for all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import Metric
from prometheus_client.samples import Sample
from warren.metrics import api as metrics

from warren_api.context import ApiContext
from warren_api.metrics.extent import Extent
from warren_api.metrics.scrape import scrape
from warren_api.metrics.series import Collected

Batch = list[Metric]


def batches(
    context: ApiContext, extent: Extent, size: int, labels: Mapping[str, str]
) -> Iterator[Batch]:
    """All families within the extent, each batch of `size` samples at most; made when it is asked
    for, so that there is one at a time. `labels` are those that every series gets.

    A family of the api's own counters is not divided: a histogram's samples are one thing.
    """
    batch: Batch = []
    room = size
    for metric in _parts(context, extent, size):
        count = sum(1 for _ in measured(metric))
        if not count:
            continue
        if batch and count > room:
            yield batch
            batch, room = [], size
        if labels:
            metric.samples = [s._replace(labels={**labels, **s.labels}) for s in metric.samples]
        batch.append(metric)
        room -= count
    if batch:
        yield batch


def measured(metric: Metric) -> Iterator[Sample]:
    """Without those that only say since when is counted."""
    is_counted = metric.type in ("counter", "histogram")
    return (s for s in metric.samples if not (is_counted and s.name.endswith("_created")))


def _parts(context: ApiContext, extent: Extent, size: int) -> Iterator[Metric]:
    yield from metrics.API.collect()
    for family in scrape(context, extent):
        yield from _of_family(family, size)


def _of_family(collected: Collected, size: int) -> Iterator[Metric]:
    family = collected.family
    kind = "unknown" if family.type == "untyped" else family.type
    samples: list[Sample] = []
    for sample in _samples(collected):
        samples.append(sample)
        if len(samples) == size:
            yield _metric(family.name, family.documentation, kind, samples)
            samples = []
    if samples:
        yield _metric(family.name, family.documentation, kind, samples)


def _samples(collected: Collected) -> Iterator[Sample]:
    name = collected.family.name
    for lines, values in collected.parts:
        for labels, value in lines.labels(values):
            yield Sample(name, labels, float(value))


def _metric(name: str, documentation: str, kind: str, samples: Iterable[Sample]) -> Metric:
    metric = Metric(name, documentation, kind)
    metric.samples = list(samples)
    return metric
