"""The identity provider, asked when somebody logs in and never before: it may be away when the API
starts. What it publishes is kept for an hour, that it does not answer for some seconds.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx
import structlog
from joserfc.jwk import KeySet
from warren.clock import Clock
from warren.errors import SettingsError
from warren.settings import OidcSettings

from warren_api.login.claims import ProviderAway, public_keys

log = structlog.get_logger(__name__)

DEADLINE = 5.0  # seconds for one answer
KEPT_SECONDS = 3600.0
AWAY_SECONDS = 5.0
NEW_KEYS_SECONDS = 30.0  # between two looks for a key that is not known
LARGEST = 512 * 1024  # bytes of an answer
DISCOVERY = "/.well-known/openid-configuration"

Value = TypeVar("Value")


class Endpoints(NamedTuple):
    """Of the discovery document, what is used of it."""

    authorization: str
    token: str
    jwks: str
    userinfo: str | None
    end_session: str | None


class _Kept(Generic[Value]):
    """What was read, for a while; read once however many want it."""

    def __init__(self, read: Callable[[], Awaitable[Value]], clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._lock = asyncio.Lock()
        self._value: Value | None = None
        self._read_at = self._failed_at = float("-inf")
        self._failure: ProviderAway | None = None

    async def get(self, newer_than: float = KEPT_SECONDS) -> Value:
        """At most that old, seconds; older where the provider does not answer. Raises
        ProviderAway.
        """
        async with self._lock:
            now = self._clock.monotonic()
            if self._value is not None and now - self._read_at < newer_than:
                return self._value
            if self._failure is not None and now - self._failed_at < AWAY_SECONDS:
                if self._value is not None:
                    return self._value
                raise self._failure
            try:
                self._value, self._read_at = await self._read(), self._clock.monotonic()
                self._failure = None
            except ProviderAway as away:
                self._failure, self._failed_at = away, self._clock.monotonic()
                log.warning("the identity provider does not answer", problem=away.detail)
                if self._value is None:
                    raise
            return self._value


class Provider:
    """Used by one event loop only."""

    def __init__(self, settings: OidcSettings, clock: Clock) -> None:
        """Raises SettingsError for authorities that cannot be read."""
        self._issuer = settings.issuer
        self._tls = _authorities(settings.tls_ca)
        self._client: httpx.AsyncClient | None = None
        self._endpoints = _Kept(self._discover, clock)
        self._keys = _Kept(self._read_keys, clock)

    async def endpoints(self) -> Endpoints:
        """Raises ProviderAway."""
        return await self._endpoints.get()

    async def keys(self) -> KeySet:
        """Raises ProviderAway."""
        return await self._keys.get()

    async def new_keys(self) -> KeySet:
        """After a key was not found: read again, now and then. Raises ProviderAway."""
        return await self._keys.get(NEW_KEYS_SECONDS)

    async def userinfo(self, url: str, access_token: str) -> dict[str, Any]:
        """Raises ProviderAway."""
        return await self._answer("GET", url, headers={"Authorization": f"Bearer {access_token}"})

    async def post(self, url: str, headers: Mapping[str, str], body: str) -> dict[str, Any]:
        """A form; the answer may say that it was refused. Raises ProviderAway."""
        return await self._answer(
            "POST", url, headers=dict(headers), content=body, refusals=(400, 401, 403)
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _discover(self) -> Endpoints:
        found = await self._answer("GET", self._issuer.rstrip("/") + DISCOVERY)
        if found.get("issuer") != self._issuer:
            # A provider of several tenants would else speak for all of them.
            raise ProviderAway(
                f"it calls itself {str(found.get('issuer'))[:300]!r}: api.oidc.issuer has to be "
                "exactly that"
            )
        return Endpoints(
            self._url(found, "authorization_endpoint"),
            self._url(found, "token_endpoint"),
            self._url(found, "jwks_uri"),
            self._url(found, "userinfo_endpoint") if found.get("userinfo_endpoint") else None,
            self._url(found, "end_session_endpoint") if found.get("end_session_endpoint") else None,
        )

    def _url(self, found: Mapping[str, Any], name: str) -> str:
        """An endpoint. https like the issuer."""
        url = found.get(name)
        try:
            parts = urlsplit(url) if isinstance(url, str) else None
            scheme = parts.scheme if parts and parts.hostname else ""
        except ValueError:
            scheme = ""
        allowed = ("https", urlsplit(self._issuer).scheme)
        if not isinstance(url, str) or scheme not in allowed:
            raise ProviderAway(f"its {name} is no URL with {allowed[-1]}")
        return url

    async def _read_keys(self) -> KeySet:
        keys = public_keys(await self._answer("GET", (await self.endpoints()).jwks))
        if not keys:
            raise ProviderAway("it publishes no key that signs")
        return keys

    async def _answer(
        self, method: str, url: str, *, refusals: tuple[int, ...] = (), **options: Any
    ) -> dict[str, Any]:
        """A JSON object. Redirects are not followed: secrets would go with them."""
        if self._client is None:
            seldom = httpx.Limits(max_keepalive_connections=0)
            self._client = httpx.AsyncClient(verify=self._tls, timeout=DEADLINE, limits=seldom)
        where = url.partition("?")[0]
        body = bytearray()
        try:
            async with (
                asyncio.timeout(DEADLINE),
                self._client.stream(method, url, **options) as answer,
            ):
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) > LARGEST:
                        raise ProviderAway(f"{where}: more than {LARGEST} bytes")
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            raise ProviderAway(f"{where}: {str(error) or type(error).__name__}") from None
        if answer.status_code not in (200, *refusals):
            raise ProviderAway(f"{where}: HTTP {answer.status_code}")
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ProviderAway(f"{where}: HTTP {answer.status_code}, no JSON object")
        return found


def _authorities(file: str) -> ssl.SSLContext | bool:
    if not file:
        return True
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        problem = error.strerror or str(error)
        raise SettingsError("api.oidc.tls_ca", f"{file} cannot be used: {problem}") from None
