"""Answers that a client has already are not sent once more.

What a page or a list says holds for the moment, so it is asked for each time, with a weak entity
tag of what it said; answered is 304 while it says the same.
"""

from __future__ import annotations

from hashlib import blake2b
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

API = "/api/v1/"


class Revalidation:
    """ASGI middleware for HTML, and JSON of our own API, that comes in one piece."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
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


def has_tag(known: str, tag: str) -> bool:
    """Whether a client's If-None-Match names the tag."""
    return tag in (each.strip() for each in known.split(","))


def become_not_modified(start: Message) -> None:
    """The beginning of an answer to a client that has the tag; there is no body then."""
    start["status"] = HTTPStatus.NOT_MODIFIED
    headers = MutableHeaders(raw=start["headers"])
    for name in ("Content-Length", "Content-Type", "Content-Encoding"):
        del headers[name]


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
    if not has_tag(known, tag):
        return body
    become_not_modified(start)
    return {"type": "http.response.body", "body": b""}
