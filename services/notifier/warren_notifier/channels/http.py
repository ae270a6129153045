"""What channels have in common that tell people or machines of an incident through one URL."""

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from pydantic import Field, SecretStr, field_validator
from warren.clock import Clock
from warren.settings.channels import ChannelSettings, web_address
from warren.settings.http_headers import HttpHeaders, plain_headers

from warren_notifier.channels.channel import Channel, Delivered, Result, Retry
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.http_endpoint import Answered, HttpEndpoint
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.state.delivery import Delivery

JSON = {"content-type": "application/json; charset=utf-8"}


class Target(NamedTuple):
    """A URL, headers that go with each request, and what else tells it from other channels."""

    url: str
    headers: Mapping[str, str] = {}
    details: tuple[str, ...] = ()


class TargetSettings(ChannelSettings):
    """A channel that is a service's URL."""

    @property
    def target(self) -> Target:
        raise NotImplementedError


class HttpChannelSettings(TargetSettings):
    """A channel that is any URL."""

    url: SecretStr = Field(description="http:// or https:// URL")
    headers: HttpHeaders = Field(
        default_factory=dict, description="Headers to add, for example Authorization"
    )

    @field_validator("url")
    @classmethod
    def _url(cls, value: SecretStr) -> SecretStr:
        web_address(value.get_secret_value())
        return value

    @property
    def target(self) -> Target:
        return Target(self.url.get_secret_value(), plain_headers(self.headers))


S = TypeVar("S", bound=TargetSettings)


class HttpChannel(Channel, Generic[S]):
    """A subclass makes the requests.

    Raises httpx.InvalidURL for a URL that httpx cannot read.
    """

    def __init__(self, settings: S, link_base: str, guard: EgressGuard, clock: Clock) -> None:
        url, headers, details = settings.target
        self.timeout = settings.timeout
        self.concurrency = settings.concurrency
        self._settings = settings
        self._link_base = link_base
        self._guard = guard
        self._clock = clock
        self._endpoint = HttpEndpoint(url, settings, guard, clock, headers)
        self.identity = self._endpoint.identity(settings.type, *details)

    def _text(self, delivery: Delivery, besides: str = "") -> IncidentText:
        return incident_text(delivery, self._link_base, self._clock.now_ms(), besides)

    async def _post(self, body: bytes, *, path: str = "") -> Result:
        """One request of JSON; a good answer is all that there is to know."""
        answer = await self._endpoint.request(body, JSON, path=path, said=True)
        return self._judged(answer) if isinstance(answer, Answered) else answer

    def _judged(self, answer: Answered) -> Result:
        """What a good answer comes to; subclasses know what their services say with it."""
        if answer.is_page:
            return Retry(f"HTTP {answer.code}, but a page: {answer.text}", uncertain=True)
        return Delivered(f"HTTP {answer.code}")

    async def _hand_over(
        self,
        body: bytes,
        headers: Mapping[str, str],
    ) -> Result:
        """One request to whatever it is: what its answer says beside its code is its own."""
        answer = await self._endpoint.request(body, headers)
        return Delivered(f"HTTP {answer.code}") if isinstance(answer, Answered) else answer

    async def close(self) -> None:
        await self._endpoint.close()
