"""The metric catalogue: every metric of every service, typed, one module per service.

Each service has a registry of its own, so that it exposes its own metrics only. docs/metrics.md
is generated from here.
"""

from prometheus_client import Gauge

from warren.entry import own_version
from warren.metrics.api import API
from warren.metrics.api_families import API_FAMILIES
from warren.metrics.archiver import ARCHIVER
from warren.metrics.collector import COLLECTOR
from warren.metrics.evaluator import EVALUATOR
from warren.metrics.family import Family
from warren.metrics.freshness import FRESHNESS
from warren.metrics.notifier import NOTIFIER

REGISTRIES = {
    "collector": COLLECTOR,
    "evaluator": EVALUATOR,
    "freshness": FRESHNESS,
    "archiver": ARCHIVER,
    "api": API,
    "notifier": NOTIFIER,
}
for _registry in REGISTRIES.values():
    Gauge(
        "warren_build_info",
        "Always 1; `version` is the one that runs",
        ("version",),
        registry=_registry,
        multiprocess_mode="max",
    ).labels(own_version()).set(1)

__all__ = ["API_FAMILIES", "REGISTRIES", "Family"]
