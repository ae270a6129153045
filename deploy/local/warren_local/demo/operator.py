"""Somebody who uses Warren while the demo runs: silences a group, looks after another."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import structlog

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
