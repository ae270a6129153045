"""How many requests are worked on at a time: the others wait in line, health checks never do.

Threads that work share one interpreter lock, and the event loop stands in line for it with them; a
thousand requests that come at once would keep the loop busy until all are answered. So few are
begun in one turn of the loop, and few are worked on together.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from warren_api.http.access import OPEN_PATHS, READING
from warren_api.http.access_control import LOGIN_PATHS
from warren_api.http.callers import Shares, site_of
from warren_api.http.errors import Refusal
from warren_api.http.problem import ProblemKind

PLACES = 4
LONGEST_LINE = 1000
RETRY_SECONDS = 5
_BODY_HEADERS = (b"content-length", b"transfer-encoding")


class Places:
    """Used by the event loop only."""

    def __init__(self, places: int = PLACES, longest_line: int = LONGEST_LINE) -> None:
        self._free = places
        self._longest_line = longest_line
        self._line = Shares[asyncio.Future[bool]]()

    async def take(self, caller: str = "") -> bool:
        """Waits for one; False where too many wait already. Callers have their turns one after the
        other, however many of their requests wait.
        """
        if self._free:
            self._free -= 1
            return True
        if len(self._line) >= self._longest_line:
            crowding = self._line.crowding(caller)
            if crowding is None:
                return False
            self._line.remove(crowding)
            if not crowding.done():  # whoever has gone leaves room, too
                crowding.set_result(False)
        mine: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._line.add(caller, mine)
        try:
            return await mine
        except asyncio.CancelledError:
            self._line.remove(mine)
            if not mine.cancelled() and mine.result():  # it had been handed over already
                self.give_back()
            raise

    def give_back(self) -> None:
        """In the next turn of the loop: an answer that needs no waiting takes its place for all of
        this one, so that clients who ask for health are heard between two.
        """
        asyncio.get_running_loop().call_soon(self._hand_over)

    def _hand_over(self) -> None:
        while (first := self._line.next()) is not None:
            if not first.done():
                first.set_result(True)
                return
        self._free += 1


class InLine:
    """ASGI middleware. A place is had until an answer begins: who takes it slowly keeps none, and
    what waits for the home cluster, as everything does that changes something, neither.
    """

    def __init__(self, app: ASGIApp, places: Places, refusal: Refusal) -> None:
        self._app = app
        self._places = places
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        if not await self._places.take(site_of(client[0] if client else None)):
            detail = "Too many requests wait to be answered."
            headers = {"Retry-After": str(RETRY_SECONDS)}
            await self._refusal(scope, ProblemKind.BUSY, detail, headers)(scope, receive, send)
            return
        has_place = True

        def leave() -> None:
            nonlocal has_place
            if has_place:
                has_place = False
                self._places.give_back()

        async def send_and_leave(message: Message) -> None:
            leave()  # before: sending waits for the client
            await send(message)

        if scope["method"] not in READING or scope["path"] in LOGIN_PATHS:
            leave()  # it may wait for the home cluster, or for the identity provider
        try:
            if all(name not in _BODY_HEADERS for name, _ in scope["headers"]):
                first = await receive()  # at once, for there is no body to wait for
                if first["type"] == "http.disconnect":  # it went while it waited
                    await Response(status_code=HTTPStatus.BAD_REQUEST)(scope, receive, send)
                    return
                receive = _after(first, receive)
            await self._app(scope, receive, send_and_leave)
        finally:
            leave()


def _after(first: Message, receive: Receive) -> Receive:
    """What is received from now on, `first` once more before it."""
    messages = [first]

    async def receive_next() -> Message:
        return messages.pop() if messages else await receive()

    return receive_next
