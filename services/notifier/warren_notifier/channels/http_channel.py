"""What channels have in common that tell people or machines of an incident through one URL."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from warren.clock import Clock
from warren.settings.channels import ChannelSettings, HttpChannelSettings

from warren_notifier.channels.channel import Delivered, Result, Retry
from warren_notifier.channels.digest import Digest
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.email_digest import DigestText, besides, digest_text
from warren_notifier.channels.http_endpoint import Answered, HttpEndpoint
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.state.delivery import Delivery

JSON = {"content-type": "application/json; charset=utf-8"}


class HttpChannel:
    """A subclass makes the requests.

    Raises httpx.InvalidURL for a URL that httpx cannot read.
    """

    def __init__(
        self, settings: ChannelSettings, endpoint: HttpEndpoint, link_base: str, clock: Clock
    ) -> None:
        self.timeout = settings.timeout
        self.concurrency = settings.concurrency
        self._endpoint = endpoint
        self._link_base = link_base
        self._clock = clock

    def _text(self, delivery: Delivery, besides: str = "") -> IncidentText:
        return incident_text(delivery, self._link_base, self._clock.now_ms(), besides)

    async def _besides(self, digest: Digest) -> str:
        """Thousands of incidents take a while to read: not in the loop's thread."""
        return await asyncio.to_thread(besides, digest, self._clock.now_ms())

    async def _digest_text(self, digest: Digest) -> DigestText:
        now = self._clock.now_ms()
        return await asyncio.to_thread(digest_text, digest, self._link_base, now)

    async def _post(
        self,
        body: bytes,
        headers: Mapping[str, str] = JSON,
        *,
        path: str = "",
        method: str = "POST",
    ) -> Result:
        """One request; a good answer is all that there is to know."""
        answer = await self._endpoint.request(body, headers, path=path, method=method, said=True)
        return self._judged(answer) if isinstance(answer, Answered) else answer

    def _judged(self, answer: Answered) -> Result:
        """What a good answer comes to; subclasses know what their services say with it."""
        if answer.is_page:
            return Retry(f"HTTP {answer.code}, but a page: {answer.text}", uncertain=True)
        return Delivered(f"HTTP {answer.code}")

    async def close(self) -> None:
        await self._endpoint.close()


def endpoint(settings: HttpChannelSettings, guard: EgressGuard, clock: Clock) -> HttpEndpoint:
    """The one that the settings name, with their headers."""
    return HttpEndpoint(
        settings.url.get_secret_value(), settings, guard, clock, settings.plain_headers()
    )
