"""Names in paths, and expressions that match names.

Routing is on the path as it was sent, so that a group named `a/b` (`a%2Fb`) is one segment. ASGI
servers decode the path before the application sees it; the slash of `%2F` could then not be told
from a separator. Here routes match the encoded path and each segment is decoded for itself.
"""

from typing import Annotated
from urllib.parse import quote, unquote

from pydantic import AfterValidator
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from warren.path_segments import name_of

# RFC 3986: what may stand in a path as it is. `%` is there because the path is already encoded.
_PATH_CHARACTERS = "/%:@!$&'()*+,;=-._~"

Segment = Annotated[str, AfterValidator(name_of)]
"""One decoded path segment, any Unicode; bytes that are no UTF-8 become U+FFFD."""


def encoded_path(scope: Scope) -> str:
    raw = scope.get("raw_path") or scope["path"].encode()
    return quote(raw.partition(b"?")[0], safe=_PATH_CHARACTERS)


def decoded_path(scope: Scope) -> str:
    """The whole path in plain characters, for people to read."""
    return unquote(encoded_path(scope))


class RawPathRouting:
    """ASGI middleware: puts the encoded path where routers look, and answers HEAD like GET."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        inner = {**scope, "path": encoded_path(scope)}
        if scope["method"] == "HEAD":
            inner["method"] = "GET"
            await self._app(inner, receive, _without_body(send))
        else:
            await self._app(inner, receive, send)


def _without_body(send: Send) -> Send:
    """Ends the answer where its body would begin, also of one that would never end."""
    ended = False

    async def send_head(message: Message) -> None:
        nonlocal ended
        if ended:
            return
        if message["type"] == "http.response.body":
            ended = True
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await send(message)

    return send_head
