"""Bodies that nobody has read when the answer begins: the connection ends with that answer.

Whatever comes behind such a body would be read as a request of its own, if client and server did
not mean the same end of it.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


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
