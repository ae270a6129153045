"""A channel, its kind, and what an attempt on it may come to.

A `detail` may hold what the receiver said, as it said it: it is made fit to be shown where it is
recorded (`warren_notifier.delivery.outcomes`).

Over HTTP one URL is told: guarded, never redirected, answers judged alike for all channels.
"""

import asyncio
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, get_args

import httpx
from pydantic import Field, SecretStr, field_validator
from warren.clock import Clock
from warren.contracts import ChannelIdentity
from warren.errors import WarrenError
from warren.settings.http_headers import HttpHeaders, plain_headers
from warren.settings.notifier import ChannelSettings, web_address

from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.egress import EgressGuard, EgressRefused, GuardedTransport
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.state.telling import Delivery


@dataclass(frozen=True, slots=True)
class Delivered:
    """The receiver took it. `receipt`: what the channel needs to speak of the same incident again,
    to be had back with its next deliveries; None where it stays as it was.
    """

    detail: str
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """It did not work, but may later. `retry_after`: seconds that the receiver asks for.

    `uncertain`: the receiver may have taken it all the same. `hung`: it took all the time that
    there was.
    """

    detail: str
    retry_after: float | None = None
    uncertain: bool = False
    hung: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """It will never work. `of_message`: as this message; another one may be taken."""

    detail: str
    of_message: bool = field(default=False, compare=False)


Result = Delivered | Retry | Refused


class ChannelUnusable(WarrenError):
    """A channel's settings cannot be used.

    Operator: correct `setting`, of the channel's table; the text says what is wrong.
    """

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting}: {problem}")
        self.setting = setting
        self.problem = problem


class Channel(ABC):
    """A way to reach people or machines; subclasses say what theirs is like."""

    identity: ChannelIdentity
    timeout: float
    concurrency: int
    tells_people = False
    """It is for people, who are told one story of a group; others hear of each condition."""
    tells_many = False
    """It can tell several incidents in one message."""
    takes_acknowledgements = False
    """Its receiver knows that somebody looks after an incident, and can be told so."""

    @property
    def resend_ms(self) -> int:
        """An open incident is sent again after so long, as its receiver takes for over what it
        has not heard of for a while; 0: it does not.
        """
        return 0

    @abstractmethod
    async def send(self, delivery: Delivery) -> Result:
        """One attempt. What goes wrong on the way is a result, not an exception."""

    async def send_many(self, digest: Digest) -> Result:
        """One attempt, likewise; only channels that tell many have it."""
        raise NotImplementedError

    async def close(self) -> None:  # noqa: B027  # most have none to free
        """Frees connections."""


S = TypeVar("S", bound=ChannelSettings)


@dataclass(frozen=True, slots=True)
class Kind(Generic[S]):
    """`channel` makes one of settings, `link_base`, the egress guard and the clock."""

    settings: type[S]
    channel: Callable[[S, str, EgressGuard, Clock], Channel]

    @property
    def type(self) -> str:
        """As the settings name it."""
        (name,) = get_args(self.settings.model_fields["type"].annotation)
        return str(name)


RETRIED = {408, 425, 429}  # and all 5xx
OF_MESSAGE = {400, 413}  # it is wrong, or too large
GATEWAYS = {502, 504}  # what stands behind the one that answers may have taken it
SAID_BYTES = 8_192  # of the answer's body: a whole URL that is sent back is recognised
SAID_SECONDS = 1.0
LONGEST_WAIT = 366 * 86_400  # seconds; nobody means to be asked again after that


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that says yes (2xx). `body`: as much of it as was asked for."""

    code: int
    body: bytes = b""
    content_type: str = ""

    @property
    def text(self) -> str:
        return _text(self.body)

    @property
    def json(self) -> Any:
        """None where the body is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def is_page(self) -> bool:
        """Whether it is one for people, of a proxy or a login, and no service's own answer. Some
        services send these as HTML too.
        """
        if self.text.startswith("<"):
            return True
        is_own = self.text.lower() in ("", "ok") or self.json is not None
        return "html" in self.content_type.lower() and not is_own


def judged(code: int, detail: str, retry_after: float | None = None) -> Retry | Refused:
    """What a status means that does not say yes."""
    if code in RETRIED or code >= 500:
        return Retry(detail, retry_after, uncertain=code in GATEWAYS)
    return Refused(detail, of_message=code in OF_MESSAGE)


def _failed(error: httpx.TransportError) -> Retry:
    name = type(error).__name__
    sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
    hung = isinstance(error, httpx.TimeoutException)
    return Retry(f"{name}: {error}" if str(error) else name, uncertain=sent, hung=hung)


async def _soon(response: httpx.Response) -> bytes:
    """The beginning of the answer's body, as far as it comes."""
    body = b""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(SAID_SECONDS):
            async for chunk in response.aiter_raw(SAID_BYTES):
                body += chunk
                if len(body) >= SAID_BYTES:
                    break
    return body[:SAID_BYTES]


def _text(body: bytes) -> str:
    return " ".join(body.decode("utf-8-sig", "replace").split())


JSON = {"content-type": "application/json; charset=utf-8"}


class Target(NamedTuple):
    """A URL, headers that go with each request, and what else tells it from other channels."""

    url: str
    headers: Mapping[str, str] = {}
    details: tuple[str, ...] = ()


class TargetSettings(ChannelSettings):
    """A channel that is a service's URL."""

    @property
    @abstractmethod
    def target(self) -> Target:
        """Where it is."""


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


TargetS = TypeVar("TargetS", bound=TargetSettings)
_default_trust = cache(httpx.create_ssl_context)
"""Of all channels that name no CA: to read the authorities takes 20 ms."""


class HttpChannel(Channel, Generic[TargetS]):
    """A subclass makes the requests. Redirects are never followed: they could lead anywhere. An
    answer that says it is gone (410) is believed.

    Raises httpx.InvalidURL for a URL that httpx cannot read.
    """

    def __init__(self, settings: TargetS, link_base: str, guard: EgressGuard, clock: Clock) -> None:
        address, headers, details = settings.target
        self.timeout = settings.timeout
        self.concurrency = settings.concurrency
        self._settings = settings
        self._link_base = link_base
        self._clock = clock
        self._gone = False
        self._always = {"user-agent": "Warren", "accept-encoding": "identity", **headers}
        self._url = url = httpx.URL(address)
        port = url.port or (443 if url.scheme == "https" else 80)
        digest = hashlib.sha256("\n".join((str(url), *details)).encode()).hexdigest()
        self.identity = ChannelIdentity(
            kind=settings.type, place=f"{url.host}:{port}", digest=digest
        )
        context = _default_trust()
        if settings.ca:
            context = httpx.create_ssl_context()
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

    def _text(self, delivery: Delivery, besides: str = "") -> IncidentText:
        return incident_text(delivery, self._link_base, self._clock.now_ms(), besides)

    async def _post(self, body: bytes, *, path: str = "") -> Result:
        """One request of JSON; a good answer is all that there is to know."""
        answer = await self._request(body, JSON, path=path, said=True)
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
        answer = await self._request(body, headers)
        return Delivered(f"HTTP {answer.code}") if isinstance(answer, Answered) else answer

    async def _request(
        self,
        content: bytes,
        headers: Mapping[str, str],
        *,
        path: str = "",
        said: bool = False,
    ) -> Answered | Retry | Refused:
        """`path` is added to the URL. `said`: a good answer's body is wanted, if it comes soon."""
        if self._gone:
            return Refused("HTTP 410 before: not asked again until settings change, or a restart")
        request = self._client.build_request(
            "POST",
            f"{self._url}{path}" if path else self._url,
            content=content,
            headers={**self._always, **headers},
        )
        try:
            response = await self._client.send(request, stream=True)
        except EgressRefused as refused:
            return Refused(str(refused))
        except httpx.TransportError as error:
            return _failed(error)
        try:
            if response.is_success:
                body = await _soon(response) if said else b""
                kind = response.headers.get("content-type", "")
                return Answered(response.status_code, body, kind)
            return await self._judge(response)
        except httpx.TransportError as error:  # the body did not come: the receiver has taken it
            return _failed(error)
        finally:
            await response.aclose()
            # The two know each other: else all that an attempt needed waits for garbage collection.
            response.stream = httpx.ByteStream(b"")
            self._client.cookies.clear()  # nobody's, and they would grow with each answer

    async def _judge(self, response: httpx.Response) -> Retry | Refused:
        code = response.status_code
        if response.is_redirect:
            return Refused(f"HTTP {code}: redirects are not followed")
        self._gone = self._gone or code == httpx.codes.GONE  # others may be under way
        text = _text(await _soon(response))
        detail = f"HTTP {code}: {text}" if text else f"HTTP {code}"
        return judged(code, detail, self._retry_after(response.headers.get("retry-after")))

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
