"""A webhook as Alertmanager sends it (version 4), for receivers that understand that.

https://prometheus.io/docs/alerting/latest/configuration/#webhook_config. A group of alerts is an
incident: `groupKey` stays from its opening to its end.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field

from warren_notifier.channels.alert import (
    AlertSettings,
    Labels,
    alert,
    fingerprint,
    firing,
    with_receipt,
)
from warren_notifier.channels.channel import Kind, Result
from warren_notifier.channels.http import HttpChannel
from warren_notifier.channels.incident_text import IncidentText
from warren_notifier.state.delivery import Delivery

NO_END = "0001-01-01T00:00:00Z"  # Go's zero time, which an alert ends at that lasts
GROUPED_BY = ("alertname", "cluster", "consumer_group")


class AlertmanagerWebhookSettings(AlertSettings):
    """A webhook as Alertmanager sends it (version 4)."""

    type: Literal["alertmanager-webhook"] = Field(description="Kind of channel")


class AlertmanagerWebhookChannel(HttpChannel[AlertmanagerWebhookSettings]):
    """One receiver. `receiver` in what it is sent is the channel's name."""

    async def send(self, delivery: Delivery) -> Result:
        text = self._text(delivery)
        fires, over = firing(text, delivery.receipt, self._settings.labels)
        alerts = [_alert(text, one, firing=False) for one in over]
        if fires is not None:
            alerts.insert(0, _alert(text, fires, firing=True))
        body = {
            **_group(alerts),
            "groupKey": f"warren:{delivery.pending.incident_id}",
            "receiver": delivery.pending.channel,
            "externalURL": self._link_base,
        }
        return with_receipt(await self._hand_over(json.dumps(body).encode()), fires)


def _alert(text: IncidentText, of: Labels, *, firing: bool) -> dict[str, Any]:
    one = alert(text, of, text.at)
    return one | {
        "status": "firing" if firing else "resolved",
        "endsAt": NO_END if firing else one["endsAt"],
        "generatorURL": text.link,
        "fingerprint": fingerprint(of),
    }


def _group(alerts: list[dict[str, Any]]) -> dict[str, Any]:
    """What is common to all, and whether one fires."""
    common: Labels = dict(
        set.intersection(*(set(one["labels"].items()) for one in alerts))  # they are few
    )
    return {
        "version": "4",
        "truncatedAlerts": 0,
        "status": alerts[0]["status"],  # the one that fires is first
        "groupLabels": {name: common[name] for name in GROUPED_BY},
        "commonLabels": common,
        "commonAnnotations": alerts[0]["annotations"],
        "alerts": alerts,
    }


KIND = Kind(AlertmanagerWebhookSettings, AlertmanagerWebhookChannel)
