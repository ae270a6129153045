"""Webhooks: the CloudEvent by POST, signed as Standard Webhooks describe.

https://github.com/standard-webhooks/standard-webhooks: the id stays over all attempts, the
timestamp is the attempt's, so that a receiver can refuse old ones.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from standardwebhooks import Webhook
from warren.clock import Clock
from warren.contracts.status_change import CONTENT_TYPE
from warren.settings.notifier import WebhookChannelSettings

from warren_notifier.channels.channel import Delivered, Result
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http_endpoint import Answered, HttpEndpoint
from warren_notifier.state.delivery import Delivery


class WebhookChannel:
    """One receiver.

    Raises httpx.InvalidURL for a URL that httpx cannot read.
    """

    def __init__(self, settings: WebhookChannelSettings, guard: EgressGuard, clock: Clock) -> None:
        self.timeout = settings.timeout
        self.concurrency = settings.concurrency
        self._endpoint = HttpEndpoint(settings.url.get_secret_value(), settings, guard, clock)
        self.identity = self._endpoint.identity("webhook")
        secrets = [settings.secret, *settings.previous_secrets]
        self._signers = [Webhook(secret.get_secret_value()) for secret in secrets]
        self._headers = settings.plain_headers()
        self._clock = clock

    async def send(self, delivery: Delivery) -> Result:
        body = _event(delivery)
        headers = self._signed_headers(delivery.pending.delivery_id, body)
        if delivery.pending.left_out:
            headers["warren-left-out"] = str(delivery.pending.left_out)
        if delivery.pending.flapping is not None:
            headers["warren-flapping"] = str(delivery.pending.flapping.openings)
        answer = await self._endpoint.request(body.encode(), headers)
        return Delivered(f"HTTP {answer.code}") if isinstance(answer, Answered) else answer

    def _signed_headers(self, delivery_id: str, body: str) -> dict[str, str]:
        now = datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC)
        signatures = [signer.sign(delivery_id, now, body) for signer in self._signers]
        return {
            "content-type": f"{CONTENT_TYPE}; charset=utf-8",
            **self._headers,
            "webhook-id": delivery_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
        }

    async def close(self) -> None:
        await self._endpoint.close()


def _event(delivery: Delivery) -> str:
    """The event as published. Repeated, it has an id of its own: receivers drop known ones. One of
    another incident than that which goes on by it is of the one that the receiver knows.
    """
    event, pending = json.loads(delivery.event), delivery.pending
    is_known = event["data"]["incident_id"] == pending.incident_id
    if is_known and pending.kind != "repeated":
        return delivery.event
    event["data"]["incident_id"] = pending.incident_id
    if pending.kind == "repeated":
        event["id"] = f"{event['id']}.{pending.repeat}"
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))
