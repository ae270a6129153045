"""Metrics of all passes, in files that the process which serves them reads as well.

A pass goes on counting where the one before it ended, also where that was killed.
"""

import os
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Metric, values
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""The variable in which prometheus_client looks for these files."""
SERVER, PASS = "server", "pass"
OWN = "warren_archiver_"


def share_metrics(writer: str, directory: str) -> None:
    """Metrics that are made from now on are kept in files of that writer."""
    os.environ[DIRECTORY] = directory
    values.ValueClass = values.MultiProcessValue(lambda: writer)  # type: ignore[no-untyped-call]  # no types there


def all_metrics(directory: str) -> CollectorRegistry:
    """What all writers have said."""
    registry = CollectorRegistry()
    registry.register(_Archiver(directory))
    return registry


class _Archiver(Collector):
    """Of the files only the archiver's: metrics of other services are made with them, and are 0."""

    def __init__(self, directory: str) -> None:
        self._all = MultiProcessCollector(None, path=directory)  # type: ignore[no-untyped-call]

    def collect(self) -> Iterable[Metric]:
        found: Iterable[Metric] = self._all.collect()  # type: ignore[no-untyped-call]
        return [metric for metric in found if metric.name.startswith(OWN)]


def pass_is_over(directory: str) -> None:
    """What is true of a running pass only is not any more."""
    mark_process_dead(PASS, path=directory)  # type: ignore[no-untyped-call]
