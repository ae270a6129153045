"""Prometheus Alertmanager: the incident is an alert there, which is sent again until it is over.

https://prometheus.io/docs/alerting/latest/alerts_api/: `POST /api/v2/alerts`; clients send alerts
that fire again before `endsAt`, for an Alertmanager takes for resolved what has passed it, and
forgets all alerts when it starts anew. Labels identify an alert, so with another severity it is
another alert: the one before is resolved in the same request. Annotations are those that were sent
last; times are RFC 3339.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints
from warren.contracts import GroupStatusName
from warren.words import moment, shortened, visible
from warren_core.standing.facts import OLD_MS

from warren_notifier.channels.channel import (
    Delivered,
    HttpChannel,
    HttpChannelSettings,
    Kind,
    Result,
    Target,
)
from warren_notifier.channels.incident_text import IncidentText
from warren_notifier.state.telling import Delivery

API = "/api/v2/alerts"
LASTS = 4  # intervals of sending again that an alert lasts, as Prometheus has it
LONGEST = 4_000  # characters of an annotation
SEVERITIES: dict[GroupStatusName, str] = {"WARN": "warning", "ERR": "critical"}
Labels = dict[str, str]
LabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]


class AlertmanagerSettings(HttpChannelSettings):
    """Prometheus Alertmanager: an alert per incident."""

    type: Literal["alertmanager"] = Field(description="Kind of channel")
    labels: dict[LabelName, str] = Field(
        default_factory=dict,
        description="Labels to add to alertname, cluster, consumer_group, severity and owner",
    )
    resend_interval: Annotated[float, Field(ge=1)] = Field(
        default=120,
        description="Seconds after which an alert is sent again while it lasts; Alertmanager takes "
        "it for resolved when it has heard nothing for four times as long",
    )

    @property
    def target(self) -> Target:
        target = super().target
        return target._replace(url=target.url.rstrip("/").removesuffix(API))


class AlertmanagerChannel(HttpChannel[AlertmanagerSettings]):
    """One Alertmanager. The receipt is the labels of the alert that fires there, as JSON."""

    @property
    def resend_ms(self) -> int:
        """After so long an open incident is sent again."""
        return round(self._settings.resend_interval * 1000)

    async def send(self, delivery: Delivery) -> Result:
        text, now = self._text(delivery), self._clock.now_ms()
        fires, over = firing(text, delivery.receipt, self._settings.labels)
        alerts = [alert(text, one, min(text.standing.at, now)) for one in over]
        if fires is not None:
            alerts.append(alert(text, fires, now + LASTS * self.resend_ms))
        result = await self._post(json.dumps(alerts).encode(), path=API)
        if isinstance(result, Delivered) and fires is not None:
            return Delivered(result.detail, json.dumps(fires))
        return result


def alert_labels(text: IncidentText, status: GroupStatusName, more: Mapping[str, str]) -> Labels:
    """What tells the incident at a severity from all other alerts; names as Kafka has them."""
    change = text.change
    found = {
        **more,
        **(change.labels or {}),
        "alertname": "WarrenGroup",
        "cluster": change.cluster,
        "consumer_group": change.group,
        "severity": SEVERITIES.get(status, "critical"),
    }
    return found | {"owner": owners[0]} if (owners := text.standing.owners) else found


def alert_annotations(text: IncidentText) -> Labels:
    """What people are told; nothing that is empty."""
    change = text.change
    cause, *also = [
        visible(each.said(text.now, OLD_MS))
        for each in text.standing.problems
        if each.kind in ("cause", "consequence")
    ] or [""]
    found = {
        "summary": text.title,
        "description": text.sentences,
        "cause": cause,
        "action": visible(next(iter(text.standing.steps), "")),
        "also": "; ".join(also),
        "runbook_url": text.runbook_link,
        "lateness_seconds": _seconds(change.late_ms),
        "time_to_loss_seconds": _seconds(change.time_to_loss_ms),
    }
    return {name: shortened(value, LONGEST) for name, value in found.items() if value}


def alert(text: IncidentText, of: Labels, ends_at: int) -> dict[str, Any]:
    """As the API takes it. `ends_at`: Unix milliseconds; what lies behind is over."""
    found = {
        "labels": of,
        "annotations": alert_annotations(text),
        "startsAt": rfc3339(text.change.opened_at),
        "endsAt": rfc3339(max(ends_at, text.change.opened_at)),
    }
    return found | {"generatorURL": text.link} if text.link else found


def firing(
    text: IncidentText, receipt: str | None, more: Mapping[str, str]
) -> tuple[Labels | None, list[Labels]]:
    """The labels of the alert that fires now, None for none, and of those that are over.

    `receipt`: the labels of the one that fired until now, as JSON. With another severity or owner
    it is another alert. Where it is not known which one fires, all that may are over at the end.
    """
    fired = _fired(receipt)
    if not text.is_open:
        possible = [alert_labels(text, status, more) for status in SEVERITIES]
        return None, [fired] if fired else possible
    now = alert_labels(text, text.change.status, more)
    return now, [fired] if fired and fired != now else []


def rfc3339(milliseconds: int) -> str:
    return moment(milliseconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:g}"


def _fired(receipt: str | None) -> Labels:
    """Empty where there is no receipt, or that of another kind of channel."""
    try:
        found = json.loads(receipt or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


KIND = Kind(AlertmanagerSettings, AlertmanagerChannel)
