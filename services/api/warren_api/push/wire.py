"""HTTP for a thread of its own: every request ends in time, and so does every answer."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from warren.errors import SettingsError
from warren.settings.push import HttpReceiverSettings

from warren_api.push.receiver import BatchRefused, PushError, Refused, Unanswered

MOST_BYTES = 65_536  # of an answer
SAID = 300  # characters of it that are passed on
_OF_THE_BATCH = {400, 413, 422}
_AGAIN = {408, 425, 429}  # and all 5xx
_LONGEST = 3600.0  # seconds; nobody means to be asked again after that


@dataclass(frozen=True, slots=True)
class Answer:
    """One that says yes (2xx)."""

    kind: str
    body: bytes


class Wire:
    """Redirects are not followed: the headers are for this receiver alone. The environment's
    proxies are used, for receivers outside.
    """

    def __init__(self, settings: HttpReceiverSettings, table: str) -> None:
        """Raises SettingsError, which names `table`, when `ca` is none."""
        self._headers = settings.plain_headers()
        self._context = httpx.create_ssl_context()
        if settings.ca:
            try:
                self._context.load_verify_locations(cadata=settings.ca)
            except (ssl.SSLError, ValueError) as error:
                raise SettingsError(f"{table}.ca", f"no certificates in PEM: {error}") from None
        self._runner = asyncio.Runner()
        self._client: httpx.AsyncClient | None = None

    def post(self, url: str, content: bytes, headers: Mapping[str, str], timeout: float) -> Answer:
        """Raises PushError."""
        return self._runner.run(self._post(url, content, headers, timeout))

    def close(self) -> None:
        if self._client is not None:
            self._runner.run(self._client.aclose())
        self._runner.close()

    async def _post(
        self, url: str, content: bytes, headers: Mapping[str, str], timeout: float
    ) -> Answer:
        self._client = self._client or self._opened()
        try:
            async with (
                asyncio.timeout(timeout),
                self._client.stream("POST", url, content=content, headers=headers) as response,
            ):
                body = await _beginning(response)
        except TimeoutError:
            raise Unanswered("no answer", f"within {timeout:.1f} s") from None
        except httpx.HTTPError as error:
            raise Unanswered(type(error).__name__, str(error)) from None
        finally:
            self._client.cookies.clear()  # nobody's, and they would grow with each answer
        if problem := _problem(response, body):
            raise problem
        return Answer(response.headers.get("content-type", ""), body)

    def _opened(self) -> httpx.AsyncClient:
        own = {"user-agent": "Warren", "accept-encoding": "identity"}
        return httpx.AsyncClient(
            verify=self._context,
            headers={**own, **self._headers},
            timeout=None,
            follow_redirects=False,
        )


async def _beginning(response: httpx.Response) -> bytes:
    body = b""
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) >= MOST_BYTES:
            break
    return body[:MOST_BYTES]


def _problem(response: httpx.Response, body: bytes) -> PushError | None:
    code = response.status_code
    kind, said = f"HTTP {code}", _said(body)
    if response.is_success:
        if "html" in response.headers.get("content-type", ""):  # a page to log in, for example
            return Refused(kind, f"a page, which such a receiver never sends: {said}")
        return None
    if code in _OF_THE_BATCH:
        return BatchRefused(kind, said)
    if code in _AGAIN or response.is_server_error:
        return Unanswered(kind, said, _seconds(response.headers.get("retry-after", "")))
    if response.is_redirect:
        return Refused(kind, "redirects are not followed")
    return Refused(kind, said)


def _seconds(header: str) -> float:
    """0 where it does not say so, dates included."""
    text = header.strip()
    short = text.isascii() and text.isdigit() and len(text) < 10
    return min(float(text), _LONGEST) if short else 0.0


def _said(body: bytes) -> str:
    return " ".join(body.decode("utf-8", "replace").split())[:SAID]
