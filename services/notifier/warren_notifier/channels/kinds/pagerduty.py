"""PagerDuty, Events API v2: one alert per incident, triggered, acknowledged and resolved.

https://developer.pagerduty.com/docs/events-api-v2/overview/: 202 and `status: success` when taken,
400 when the event is wrong, 429 and 5xx to be tried again, 429 after a few minutes; a request has
512 KB at most.
https://developer.pagerduty.com/docs/events-api-v2/trigger-events/: `summary` has 1,024 characters
at most, `dedup_key` 255; events with the key of an open alert belong to it, and its resolution
after it is resolved is dropped, so that deliveries that come twice do no harm.
"""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr
from warren.contracts import DeliveryKind
from warren.settings.notifier import WebAddress
from warren.words import shortened, visible

from warren_notifier.channels.channel import (
    Answered,
    HttpChannel,
    Kind,
    Refused,
    Result,
    Retry,
    Target,
    TargetSettings,
)
from warren_notifier.channels.incident_text import IncidentText
from warren_notifier.channels.links import incident_key
from warren_notifier.channels.note import fitting
from warren_notifier.state.telling import Delivery

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


def _integration_key(value: SecretStr) -> SecretStr:
    if not re.fullmatch("[A-Za-z0-9]{32}", value.get_secret_value()):
        raise ValueError("an integration key has 32 letters and digits")
    return value


class PagerDutySettings(TargetSettings):
    """PagerDuty, Events API v2: an alert per incident."""

    type: Literal["pagerduty"] = Field(description="Kind of channel")
    routing_key: Annotated[SecretStr, AfterValidator(_integration_key)] = Field(
        description="Integration key, 32 characters"
    )
    severities: dict[Literal["WARN", "ERR"], Literal["critical", "error", "warning", "info"]] = (
        Field(
            default_factory=dict,
            description="PagerDuty's severity for a status: critical, error, warning or info; "
            "otherwise critical for ERR and warning for WARN",
        )
    )
    url: WebAddress = Field(
        default="https://events.pagerduty.com/v2/enqueue",
        description="URL of the Events API; in the EU https://events.eu.pagerduty.com/v2/enqueue",
    )

    @property
    def target(self) -> Target:
        return Target(self.url, details=(self.routing_key.get_secret_value(),))


class PagerDutyChannel(HttpChannel[PagerDutySettings]):
    """One integration of one service. An alert's key is the incident's id."""

    tells_people = True

    takes_acknowledgements = True

    async def send(self, delivery: Delivery) -> Result:
        text, kind = self._text(delivery), delivery.pending.kind
        action = ACTIONS.get(kind, "resolve") if text.is_open else "resolve"
        event: dict[str, Any] = {
            "routing_key": self._settings.routing_key.get_secret_value(),
            "event_action": action,
            "dedup_key": incident_key(delivery.pending.incident_id, DEDUP_KEY),
        }
        severities = SEVERITIES | self._settings.severities
        severity = severities.get(text.change.status, "critical")

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
    kind = change.cause.name if change.cause is not None else text.standing.event_type
    alert: dict[str, Any] = {
        "client": "Warren",
        "links": [{"href": href, "text": words} for words, href in text.links],
        "payload": {
            "summary": shortened(text.title, SUMMARY),
            "source": change.cluster,
            "severity": severity,
            "timestamp": datetime.fromtimestamp(text.standing.at / 1000, UTC).isoformat(),
            "component": shortened(visible(change.group), longest),
            "class": kind,
            "custom_details": {
                name: shortened(value, longest) if isinstance(value, str) else value
                for name, value in details.items()
            },
        },
    }
    return alert | {"client_url": text.link} if text.link else alert


KIND = Kind(PagerDutySettings, PagerDutyChannel)
