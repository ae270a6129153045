"""What every request passes, whatever it asks for: a largest size, an unread body, headers,
figures.

Whatever comes behind a body that nobody has read would be read as a request of its own, if client
and server did not mean the same end of it: the connection ends with that answer.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from warren.clock import Clock
from warren.metrics import api as metrics

from warren_api.http.errors import Refusal
from warren_api.http.problem import ProblemKind

LONGEST_URI = 8 * 1024  # bytes of path and query, each
LARGEST_BODY = 64 * 1024


class RequestLimits:
    """ASGI middleware. A body without a length is refused: there is no need for one."""

    def __init__(self, app: ASGIApp, refusal: Refusal) -> None:
        self._app = app
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("Content-Length", "0")
        is_large = "Transfer-Encoding" in headers or not length.isdigit()
        if max(len(scope["query_string"]), len(scope["path"])) > LONGEST_URI:
            detail = f"Path and query may have {LONGEST_URI} bytes each."
            answer = self._refusal(scope, ProblemKind.URI_TOO_LONG, detail)
        elif is_large or int(length) > LARGEST_BODY:
            detail = f"A body may have {LARGEST_BODY} bytes and says how many with Content-Length."
            answer = self._refusal(scope, ProblemKind.TOO_LARGE, detail)
        else:
            await self._app(scope, receive, send)
            return
        await answer(scope, receive, send)


class UnreadBodies:
    """ASGI middleware. The rest of the body is thrown away before the connection closes: a client
    that is still sending would else see it break, and not the answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if not has_body(headers):
            await self._app(scope, receive, send)
            return
        comes = "Expect" not in headers  # who waits for `100 Continue` sends none after an answer
        is_read = closes = False

        async def receive_noted() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def send_closing(message: Message) -> None:
            nonlocal closes
            if message["type"] == "http.response.start" and not is_read:
                closes = True
                closing = [*message["headers"], (b"connection", b"close")]
                message = {**message, "headers": closing}
            if closes and message["type"] == "http.response.body" and not message.get("more_body"):
                await send({**message, "more_body": True})
                while comes and not is_read:
                    await receive_noted()
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        await self._app(scope, receive_noted, send_closing)


def has_body(headers: Headers) -> bool:
    return headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in headers


# No inline scripts or styles, nothing from elsewhere, not to be framed.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class ResponseHeaders:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, *, is_tls: bool = False) -> None:
        self._app = app
        self._is_tls = is_tls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_static = scope["path"].startswith("/static/")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
                headers["X-Content-Type-Options"] = "nosniff"
                # Without any referrer, browsers would not say that a form is one of our own pages'.
                headers["Referrer-Policy"] = "same-origin"
                headers["X-Frame-Options"] = "DENY"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
                if self._is_tls:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
                headers.setdefault("Cache-Control", "no-cache" if is_static else "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)


UNKNOWN_ROUTE = "other"
_ENDLESS = "text/event-stream"  # how long a client listens says nothing of the API
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestMetrics:
    """ASGI middleware; an exception counts as 500."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, code = self._clock.monotonic(), 500
        answered: float | None = None

        async def send_and_note(message: Message) -> None:
            nonlocal code, answered
            if message["type"] == "http.response.start":
                code = message["status"]
                if Headers(raw=message["headers"]).get("content-type", "").startswith(_ENDLESS):
                    answered = self._clock.monotonic()
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            # The router notes the route that matched in the scope it was given.
            route = getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
            method = scope["method"] if scope["method"] in _METHODS else UNKNOWN_ROUTE
            metrics.API_REQUESTS.labels(route, method, str(code)).inc()
            metrics.API_REQUEST_SECONDS.labels(route).observe(
                (self._clock.monotonic() if answered is None else answered) - began
            )
