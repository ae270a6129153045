"""`warren demo`: choosing the cluster, and running until told to stop."""

from __future__ import annotations

import threading

from warren.clock import SystemClock
from warren.settings import ClusterSettings, KafkaConnection, Settings
from warren.settings.connection import named_servers

from warren_local.demo.workload import Gate, Workload
from warren_local.plan import DEMO_CLUSTER


def run_demo(
    settings: Settings,
    *,
    cluster: str | None,
    bootstrap: str | None,
    stop: threading.Event,
    gate: Gate | None = None,
) -> None:
    """Run the demo on the cluster of that name, or at that address, until told to stop."""
    name = cluster or DEMO_CLUSTER
    connection = demo_connection(settings, name, bootstrap)
    Workload(name, f"clusters.{name}", connection, SystemClock(), stop).run(gate)


def demo_connection(settings: Settings, name: str, bootstrap: str | None) -> KafkaConnection:
    """`bootstrap`, with the security settings of the cluster of that name if there is one; else
    that cluster; else home. Raises SettingsError.
    """
    known = settings.clusters.get(name)
    if bootstrap is not None:
        servers = named_servers("--bootstrap", bootstrap)
        return ClusterSettings(bootstrap=servers, kafka=known.kafka if known else {})
    return known or settings.home
