"""PagerDuty, Events API v2: one alert per incident, triggered, acknowledged and resolved.

https://developer.pagerduty.com/docs/events-api-v2/overview/: 202 and `status: success` when taken,
400 when the event is wrong, 429 and 5xx to be tried again, 429 after a few minutes; a request has
512 KB at most.
https://developer.pagerduty.com/docs/events-api-v2/trigger-events/: `summary` has 1,024 characters
at most, `dedup_key` 255; events with the key of an open alert belong to it, and its resolution
after it is resolved is dropped, so that deliveries that come twice do no harm.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from warren.clock import Clock
from warren.contracts import DeliveryKind
from warren.settings.channels import PagerDutyChannelSettings
from warren.words import shortened, visible

from warren_notifier.channels.channel import Refused, Result, Retry
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http_channel import HttpChannel
from warren_notifier.channels.http_endpoint import Answered, HttpEndpoint
from warren_notifier.channels.incident_key import incident_key
from warren_notifier.channels.incident_text import IncidentText, fitting
from warren_notifier.state.delivery import Delivery

SUMMARY = 1_024  # characters
DEDUP_KEY = 255  # characters
BYTES = 512_000
FEW_MINUTES = 120.0  # seconds
PARTITIONS = 10
TAKEN = {"success", "ok", "accepted"}  # PagerDuty's word, and those of what is made like it
SEVERITIES = {"WARN": "warning", "ERR": "critical"}
# PagerDuty's word for a kind of delivery, as long as the incident is open.
ACTIONS: dict[DeliveryKind, str] = {
    "opened": "trigger",
    "changed": "trigger",
    "repeated": "trigger",
    "acknowledged": "acknowledge",
}


class PagerDutyChannel(HttpChannel):
    """One integration of one service. An alert's key is the incident's id."""

    takes_acknowledgements = True

    def __init__(
        self, settings: PagerDutyChannelSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        self._routing_key = settings.routing_key.get_secret_value()
        self._severities = SEVERITIES | settings.severities
        endpoint = HttpEndpoint(settings.url, settings, guard, clock)
        self.identity = endpoint.identity("pagerduty", self._routing_key)
        super().__init__(settings, endpoint, link_base, clock)

    async def send(self, delivery: Delivery) -> Result:
        text, kind = self._text(delivery), delivery.pending.kind
        action = ACTIONS.get(kind, "resolve") if text.is_open else "resolve"
        event: dict[str, Any] = {
            "routing_key": self._routing_key,
            "event_action": action,
            "dedup_key": incident_key(delivery.pending.incident_id, DEDUP_KEY),
        }
        severity = self._severities.get(text.change.status, "critical")

        def body(longest: int) -> bytes:
            more = _alert(text, severity, longest) if action == "trigger" else {}
            return json.dumps(event | more).encode()

        result = await self._post(fitting(body, BYTES, longest=10_000))
        if isinstance(result, Retry) and result.detail.startswith("HTTP 429"):
            return replace(result, retry_after=result.retry_after or FEW_MINUTES)
        return result

    def _judged(self, answer: Answered) -> Result:
        said = answer.json
        status = said.get("status") if isinstance(said, dict) else None
        if not isinstance(status, str) or status in TAKEN:
            return super()._judged(answer)
        detail = f"HTTP {answer.code}: {answer.text}"
        return Refused(detail) if status.startswith("invalid") else Retry(detail)


def _alert(text: IncidentText, severity: str, longest: int) -> dict[str, Any]:
    """What a trigger has beside its key: the PagerDuty Common Event Format."""
    change = text.change
    details: dict[str, Any] = {"Group": visible(change.group), "Cluster": change.cluster}
    for name, value in text.facts:
        said = shortened(value, longest)
        details[name] = f"{details[name]}\n{said}" if name in details else said
    if change.partitions:
        details["Worst partitions"] = [
            {
                "topic": shortened(visible(bad.topic), longest),
                "partition": bad.partition,
                "status": bad.status,
                "lag": "unknown" if bad.lag is None else bad.lag,
            }
            for bad in change.partitions[:PARTITIONS]
        ]
    kind = change.cause.name if change.cause is not None else text.event_type
    links = [(text.link, "Look at it in Warren"), (text.runbook_link, "Runbook")]
    alert: dict[str, Any] = {
        "client": "Warren",
        "links": [{"href": href, "text": words} for href, words in links if href],
        "payload": {
            "summary": shortened(text.title, SUMMARY),
            "source": change.cluster,
            "severity": severity,
            "timestamp": datetime.fromtimestamp(text.at / 1000, UTC).isoformat(),
            "component": shortened(visible(change.group), longest),
            "class": kind,
            "custom_details": {
                name: shortened(value, longest) if isinstance(value, str) else value
                for name, value in details.items()
            },
        },
    }
    return alert | {"client_url": text.link} if text.link else alert
