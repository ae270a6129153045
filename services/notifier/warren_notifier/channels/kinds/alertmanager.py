"""Prometheus Alertmanager: the incident is an alert there, which is sent again until it is over.

https://prometheus.io/docs/alerting/latest/alerts_api/: `POST /api/v2/alerts`; clients send alerts
that fire again before `endsAt`, for an Alertmanager takes for resolved what has passed it, and
forgets all alerts when it starts anew. An alert is identified by its labels, so with another
severity it is another alert: the one before is resolved in the same request.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field

from warren_notifier.channels.alert import AlertSettings, alert, firing, with_receipt
from warren_notifier.channels.channel import Kind, Result
from warren_notifier.channels.http import HttpChannel, Target
from warren_notifier.state.delivery import Delivery

API = "/api/v2/alerts"
LASTS = 4  # intervals of sending again that an alert lasts, as Prometheus has it


class AlertmanagerSettings(AlertSettings):
    """Prometheus Alertmanager: an alert per incident."""

    type: Literal["alertmanager"] = Field(description="Kind of channel")
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
        alerts = [alert(text, one, min(text.at, now)) for one in over]
        if fires is not None:
            alerts.append(alert(text, fires, now + LASTS * self.resend_ms))
        return with_receipt(await self._post(json.dumps(alerts).encode(), path=API), fires)


KIND = Kind(AlertmanagerSettings, AlertmanagerChannel)
