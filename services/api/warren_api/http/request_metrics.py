"""Counts and times requests by route, so that no path a client makes up becomes a series."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from warren.clock import Clock
from warren.metrics import api as metrics

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
