"""Webhooks: the CloudEvent by POST, signed as Standard Webhooks describe.

https://github.com/standard-webhooks/standard-webhooks: the id stays over all attempts, the
timestamp is the attempt's, so that a receiver can refuse old ones.
"""

from __future__ import annotations

import base64
import binascii
import json
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from standardwebhooks import Webhook
from warren.clock import Clock
from warren.contracts.status_change import CONTENT_TYPE

from warren_notifier.channels.channel import Kind, Result
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http import HttpChannel, HttpChannelSettings
from warren_notifier.state.delivery import Delivery


def _signing(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value().removeprefix("whsec_")
    try:
        size = len(base64.b64decode(text + "=" * (-len(text) % 4), validate=True))
    except binascii.Error:
        raise ValueError("whsec_ and base64 are needed") from None
    if not 24 <= size <= 64:
        raise ValueError(f"24 to 64 bytes are needed, these are {size}")
    return secret


SigningSecret = Annotated[SecretStr, AfterValidator(_signing)]


class WebhookSettings(HttpChannelSettings):
    """A webhook: the CloudEvent by POST, signed as Standard Webhooks describe."""

    type: Literal["webhook"] = Field(description="Kind of channel")
    secret: SigningSecret = Field(
        description="Signing secret: `whsec_` and 24 to 64 bytes in base64"
    )
    previous_secrets: list[SigningSecret] = Field(
        default_factory=list,
        max_length=5,
        description="Secrets of before, which the receiver may still have: all sign each request",
    )


class WebhookChannel(HttpChannel[WebhookSettings]):
    """One receiver."""

    def __init__(
        self, settings: WebhookSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        super().__init__(settings, link_base, guard, clock)
        secrets = [settings.secret, *settings.previous_secrets]
        self._signers = [Webhook(secret.get_secret_value()) for secret in secrets]

    async def send(self, delivery: Delivery) -> Result:
        body = _event(delivery)
        headers = self._signed_headers(delivery.pending.delivery_id, body)
        if delivery.pending.left_out:
            headers["warren-left-out"] = str(delivery.pending.left_out)
        if delivery.pending.flapping is not None:
            headers["warren-flapping"] = str(delivery.pending.flapping.openings)
        return await self._hand_over(body.encode(), headers)

    def _signed_headers(self, delivery_id: str, body: str) -> dict[str, str]:
        now = datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC)
        signatures = [signer.sign(delivery_id, now, body) for signer in self._signers]
        return {
            "content-type": f"{CONTENT_TYPE}; charset=utf-8",
            **self._settings.target.headers,
            "webhook-id": delivery_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
        }


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


KIND = Kind(WebhookSettings, WebhookChannel)
