"""Webhooks: the CloudEvent by POST, signed as Standard Webhooks describe.

https://github.com/standard-webhooks/standard-webhooks: the id stays over all attempts, the
timestamp is the attempt's, so that a receiver can refuse old ones.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
from standardwebhooks import Webhook
from warren.clock import Clock
from warren.contracts import ChannelIdentity
from warren.settings.notifier import WebhookChannelSettings

from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.channels.egress import EgressGuard, EgressRefused, GuardedTransport
from warren_notifier.state.delivery import Delivery

RETRIED = {408, 425, 429}  # and all 5xx
GATEWAYS = {502, 504}  # what stands behind the one that answers may have taken it
SAID_BYTES = 8_192  # of the answer's body: a whole URL that is sent back is recognised
SAID_SECONDS = 1.0
LONGEST_WAIT = 366 * 86_400  # seconds; nobody means to be asked again after that


class WebhookChannel:
    """One receiver. Redirects are never followed: they could lead anywhere. One that says it is
    gone (410) is believed.

    Raises httpx.InvalidURL for a URL that httpx cannot read.
    """

    def __init__(self, settings: WebhookChannelSettings, guard: EgressGuard, clock: Clock) -> None:
        self.timeout = settings.timeout
        self.concurrency = settings.concurrency
        self._url = httpx.URL(settings.url.get_secret_value())
        self.identity = _identity(self._url)
        secrets = [settings.secret, *settings.previous_secrets]
        self._signers = [Webhook(secret.get_secret_value()) for secret in secrets]
        self._gone = False
        self._headers = {name: value.get_secret_value() for name, value in settings.headers.items()}
        self._clock = clock
        context = httpx.create_ssl_context()
        if settings.ca:
            context.load_verify_locations(cadata=settings.ca)
        inner = httpx.AsyncHTTPTransport(
            verify=context,
            trust_env=False,
            # A connection of its own per attempt: checked, and never one that has gone stale.
            limits=httpx.Limits(max_keepalive_connections=0),
        )
        self._client = httpx.AsyncClient(
            transport=GuardedTransport(guard, inner),
            timeout=settings.timeout,
            follow_redirects=False,
            trust_env=False,
        )

    async def send(self, delivery: Delivery) -> Result:
        if self._gone:
            return Refused(
                "HTTP 410 before: not asked again until its secret changes, or a restart"
            )
        body = _event(delivery)
        headers = self._signed_headers(delivery.pending.delivery_id, body)
        if delivery.pending.left_out:
            headers["warren-left-out"] = str(delivery.pending.left_out)
        if delivery.pending.flapping is not None:
            headers["warren-flapping"] = str(delivery.pending.flapping.openings)
        request = self._client.build_request(
            "POST", self._url, content=body.encode(), headers=headers
        )
        try:
            response = await self._client.send(request, stream=True)
        except EgressRefused as refused:
            return Refused(str(refused))
        except httpx.TransportError as error:
            name = type(error).__name__
            sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
            return Retry(f"{name}: {error}" if str(error) else name, uncertain=sent)
        try:
            return await self._judge(response)
        finally:
            await response.aclose()

    def _signed_headers(self, delivery_id: str, body: str) -> dict[str, str]:
        now = datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC)
        signatures = [signer.sign(delivery_id, now, body) for signer in self._signers]
        return {
            "content-type": "application/cloudevents+json; charset=utf-8",
            "user-agent": "Warren",
            "accept-encoding": "identity",
            **self._headers,
            "webhook-id": delivery_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
        }

    async def _judge(self, response: httpx.Response) -> Result:
        code = response.status_code
        if response.is_success:
            return Delivered(f"HTTP {code}")
        if response.is_redirect:
            return Refused(f"HTTP {code}: redirects are not followed")
        self._gone = code == httpx.codes.GONE
        detail = f"HTTP {code}{await _said(response)}"
        if code in RETRIED or response.is_server_error:
            asked = self._retry_after(response.headers.get("retry-after"))
            return Retry(detail, asked, uncertain=code in GATEWAYS)
        return Refused(detail)

    def _retry_after(self, header: str | None) -> float | None:
        """Seconds to wait: the header has seconds or a date (RFC 9110, 10.2.3).

        None where it has neither, or more than anybody can mean.
        """
        text = (header or "").strip()
        if text.isascii() and text.isdigit():
            seconds = float(text) if len(text) < 20 else LONGEST_WAIT + 1
        else:
            try:
                at = parsedate_to_datetime(text)
                at = at if at.tzinfo else at.replace(tzinfo=UTC)
                seconds = max(at.timestamp() - self._clock.now_ms() / 1000, 0.0)
            except (ValueError, OverflowError):
                return None
        return seconds if seconds <= LONGEST_WAIT else None

    async def close(self) -> None:
        await self._client.aclose()


def _event(delivery: Delivery) -> str:
    """The event as published. Repeated, it has an id of its own: receivers drop known ones."""
    if delivery.pending.kind != "repeated":
        return delivery.event
    event = json.loads(delivery.event)
    event["id"] = f"{event['id']}.{delivery.pending.repeat}"
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _identity(url: httpx.URL) -> ChannelIdentity:
    port = url.port or (443 if url.scheme == "https" else 80)
    digest = hashlib.sha256(str(url).encode()).hexdigest()
    return ChannelIdentity(kind="webhook", place=f"{url.host}:{port}", digest=digest)


async def _said(response: httpx.Response) -> str:
    """The beginning of the answer's body; empty when it does not come."""
    body = b""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(SAID_SECONDS):
            async for chunk in response.aiter_raw(SAID_BYTES):
                body += chunk
                if len(body) >= SAID_BYTES:
                    break
    text = " ".join(body[:SAID_BYTES].decode("utf-8", "replace").split())
    return f": {text}" if text else ""
