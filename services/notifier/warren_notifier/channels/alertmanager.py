"""Prometheus Alertmanager: the incident is an alert there, which is sent again until it is over.

https://prometheus.io/docs/alerting/latest/alerts_api/: `POST /api/v2/alerts`; clients send alerts
that fire again before `endsAt`, for an Alertmanager takes for resolved what has passed it, and
forgets all alerts when it starts anew. An alert is identified by its labels, so with another
severity it is another alert: the one before is resolved in the same request.
"""

from __future__ import annotations

import json

from warren.clock import Clock
from warren.settings.channels import AlertmanagerChannelSettings

from warren_notifier.channels.alert import alert, firing
from warren_notifier.channels.channel import Delivered, Result
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http_channel import HttpChannel, endpoint
from warren_notifier.state.delivery import Delivery

API = "/api/v2/alerts"
LASTS = 4  # intervals of sending again that an alert lasts, as Prometheus has it


class AlertmanagerChannel(HttpChannel):
    """One Alertmanager. The receipt is the labels of the alert that fires there, as JSON."""

    def __init__(
        self,
        settings: AlertmanagerChannelSettings,
        link_base: str,
        guard: EgressGuard,
        clock: Clock,
    ) -> None:
        super().__init__(settings, endpoint(settings, guard, clock), link_base, clock)
        self.identity = self._endpoint.identity("alertmanager")
        self._labels = settings.labels
        self._lasts_ms = round(settings.resend_interval * 1000 * LASTS)

    async def send(self, delivery: Delivery) -> Result:
        text, now = self._text(delivery), self._clock.now_ms()
        fires, over = firing(text, delivery.receipt, self._labels)
        alerts = [alert(text, one, min(text.at, now)) for one in over]
        if fires is not None:
            alerts.append(alert(text, fires, now + self._lasts_ms))
        result = await self._post(json.dumps(alerts).encode(), path=API)
        if isinstance(result, Delivered) and fires is not None:
            return Delivered(result.detail, json.dumps(fires))
        return result
