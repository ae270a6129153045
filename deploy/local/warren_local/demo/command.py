"""`warren demo`: choosing the cluster, and running until told to stop."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import structlog
from warren.clock import SystemClock
from warren.settings import ClusterSettings, KafkaConnection, Settings
from warren.settings.connection import named_servers

from warren_local.demo.workload import Gate, Workload
from warren_local.plan import DEMO_CLUSTER

log = structlog.get_logger(__name__)

SILENCED = "demo-rewound"
LOOKED_AFTER = "demo-one-bad"
NAME = "the demo"
LOOK_EVERY = 1.0  # seconds
TIMEOUT = 5.0
SILENCE_SECONDS = 12 * 3600


class Operator:
    """Asks the API at `api`, as people do with `warren silence add` and `warren ack`."""

    def __init__(self, api: str, cluster: str) -> None:
        self._api = f"{api}/api/v1"
        self._cluster = cluster

    def run(self, stop: threading.Event) -> None:
        """Until both is done, or the API refuses (it wants a token), or `stop` is set."""
        left = [self._silence, self._acknowledge]
        with httpx.Client(timeout=TIMEOUT, trust_env=False) as client:
            while left and not stop.wait(LOOK_EVERY):
                try:
                    if left[0](client):
                        del left[0]
                except httpx.HTTPStatusError as refused:
                    if refused.response.is_client_error:
                        log.info("the demo may change nothing", status=refused.response.status_code)
                        return
                except (httpx.HTTPError, ValueError, KeyError):
                    continue  # it starts, or is started again

    def _silence(self, client: httpx.Client) -> bool:
        known = _json(client.get(f"{self._api}/silences", params={"in_force": True}))
        if any(silence["by"] == NAME for silence in known["silences"]):
            return True  # by a run of the demo before
        body = {
            "cluster": f"^{self._cluster}$",
            "group": f"^{SILENCED}$",
            "for_seconds": SILENCE_SECONDS,
            "why": "to show what a silence does: nobody is told of this group",
            "by": NAME,
        }
        _json(client.post(f"{self._api}/silences", json=body))
        return True

    def _acknowledge(self, client: httpx.Client) -> bool:
        """False as long as there is no incident."""
        incidents = _json(
            client.get(
                f"{self._api}/incidents", params={"open": True, "regex": f"^{LOOKED_AFTER}$"}
            )
        )["incidents"]
        for incident in incidents:
            if incident["cluster"] == self._cluster:
                body = {"by": NAME, "why": "to show what that does: it is told only once"}
                path = f"{self._api}/incidents/{incident['id']}/acknowledge"
                _json(client.post(path, json=body))
                return True
        return False


def _json(answer: httpx.Response) -> Any:
    return answer.raise_for_status().json()


def run_demo(
    settings: Settings,
    *,
    cluster: str | None,
    bootstrap: str | None,
    stop: threading.Event,
    gate: Gate | None = None,
    api: str | None = None,
) -> None:
    """Run the demo on the cluster of that name, or at that address, until told to stop.

    `api`: where it also shows what people can ask for.
    """
    name = cluster or DEMO_CLUSTER
    connection = demo_connection(settings, name, bootstrap)
    workload = Workload(name, f"clusters.{name}", connection, SystemClock(), stop)
    if api is None:
        workload.run(gate)
        return
    operator = threading.Thread(target=Operator(api, name).run, args=(stop,), name="operator")
    operator.start()
    try:
        workload.run(gate)
    finally:
        stop.set()
        operator.join()


def demo_connection(settings: Settings, name: str, bootstrap: str | None) -> KafkaConnection:
    """`bootstrap`, with the security settings of the cluster of that name if there is one; else
    that cluster; else home. Raises SettingsError.
    """
    known = settings.clusters.get(name)
    if bootstrap is not None:
        servers = named_servers("--bootstrap", bootstrap)
        return ClusterSettings(bootstrap=servers, kafka=known.kafka if known else {})
    return known or settings.home
