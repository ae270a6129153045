"""Refuses requests that are larger than anything Warren needs to be asked."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

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
