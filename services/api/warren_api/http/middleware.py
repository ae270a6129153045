"""What every request passes, whatever it asks for: limits, a place in line, headers, figures. The
server knows requests of HTTP only.
"""

from hashlib import blake2b
from http import HTTPStatus

from anyio import CapacityLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from warren.clock import Clock
from warren.metrics import api as metrics

from warren_api.http.access import OPEN_PATHS, OPEN_PREFIX, READING
from warren_api.http.access_control import LOGIN_PATHS
from warren_api.http.errors import Refusal
from warren_api.http.problem import ProblemKind

LONGEST_URI = 8 * 1024  # bytes of path and query, each
LARGEST_BODY = 64 * 1024
PLACES = 4
LONGEST_LINE = 200
RETRY_SECONDS = 5


class Gate:
    """ASGI middleware. A body without a length is refused: there is no need for one. Few requests
    are worked on at a time, the others wait in line; health checks never do. Threads that work
    share one interpreter lock with the event loop.

    A place is had until an answer begins: who takes it slowly keeps none. What changes something
    waits for the home cluster, a login for its provider: they need none.
    """

    def __init__(self, app: ASGIApp, refusal: Refusal) -> None:
        self._app = app
        self._refusal = refusal
        self._places = CapacityLimiter(PLACES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_free = scope["path"] in (*OPEN_PATHS, *LOGIN_PATHS) or scope["method"] not in READING
        if refused := self._refused(scope, is_free=is_free):
            await refused(scope, receive, send)
            return
        if is_free:
            await self._app(scope, receive, send)
            return
        place: object | None = object()

        def leave() -> None:
            nonlocal place
            if place is not None:
                self._places.release_on_behalf_of(place)
                place = None

        async def send_and_leave(message: Message) -> None:
            leave()  # before: sending waits for the client
            await send(message)

        await self._places.acquire_on_behalf_of(place)
        try:
            await self._app(scope, receive, send_and_leave)
        finally:
            leave()

    def _refused(self, scope: Scope, *, is_free: bool) -> Response | None:
        headers = Headers(scope=scope)
        length = headers.get("Content-Length", "0")
        is_large = "Transfer-Encoding" in headers or not length.isdigit()
        if max(len(scope["query_string"]), len(scope["path"])) > LONGEST_URI:
            detail = f"Path and query may have {LONGEST_URI} bytes each."
            return self._refusal(scope, ProblemKind.URI_TOO_LONG, detail)
        if is_large or int(length) > LARGEST_BODY:
            detail = f"A body may have {LARGEST_BODY} bytes and says how many with Content-Length."
            return self._refusal(scope, ProblemKind.TOO_LARGE, detail)
        if not is_free and self._places.statistics().tasks_waiting >= LONGEST_LINE:
            detail = "Too many requests wait to be answered."
            return self._refusal(
                scope, ProblemKind.BUSY, detail, {"Retry-After": str(RETRY_SECONDS)}
            )
        return None


# No inline scripts or styles, nothing from elsewhere, not to be framed.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


UNKNOWN_ROUTE = "other"
_ENDLESS = "text/event-stream"  # how long a client listens says nothing of the API
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Answering:
    """ASGI middleware: what every answer's head has, and figures; an exception counts as 500."""

    def __init__(self, app: ASGIApp, clock: Clock, *, is_tls: bool = False) -> None:
        self._app = app
        self._clock = clock
        self._headers = {
            "X-Content-Type-Options": "nosniff",
            # Without any referrer, browsers would not say that a form is one of our own pages'.
            "Referrer-Policy": "same-origin",
            "X-Frame-Options": "DENY",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
            **({"Strict-Transport-Security": "max-age=31536000"} if is_tls else {}),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_static = scope["path"].startswith(OPEN_PREFIX)
        began, code = self._clock.monotonic(), 500
        answered: float | None = None

        async def send_and_note(message: Message) -> None:
            nonlocal code, answered
            if message["type"] == "http.response.start":
                code, headers = message["status"], MutableHeaders(scope=message)
                headers.update(self._headers)
                headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
                headers.setdefault("Cache-Control", "no-cache" if is_static else "no-store")
                if headers.get("content-type", "").startswith(_ENDLESS):
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


API = "/api/v1/"


class Revalidation:
    """ASGI middleware for HTML, and JSON of our own API, that comes in one piece."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        known = Headers(scope=scope).get("If-None-Match", "")
        start: Message | None = None

        async def send_changed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_tagged(scope["path"], message):
                start = message
                return
            if start is not None and message["type"] == "http.response.body":
                begun, start = start, None
                message = _tagged(begun, message, known)
                await send(begun)
            await send(message)

        await self._app(scope, receive, send_changed)


def _is_tagged(path: str, start: Message) -> bool:
    if start["status"] != HTTPStatus.OK:
        return False
    kind = Headers(raw=start["headers"]).get("Content-Type", "")
    is_list = kind.startswith("application/json") and path.startswith(API)
    return is_list or kind.startswith("text/html")


def _tagged(start: Message, body: Message, known: str) -> Message:
    """The body to be sent; `start` gets its tag, and another status where the client has it."""
    if body.get("more_body"):
        return body
    tag = f'W/"{blake2b(body.get("body", b""), digest_size=12).hexdigest()}"'
    headers = MutableHeaders(raw=start["headers"])
    headers["ETag"] = tag
    headers["Cache-Control"] = "private, no-cache"
    if tag not in (each.strip() for each in known.split(",")):
        return body
    start["status"] = HTTPStatus.NOT_MODIFIED
    for name in ("Content-Length", "Content-Type", "Content-Encoding"):
        del headers[name]
    return {"type": "http.response.body", "body": b""}
