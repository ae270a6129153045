"""Answers that a client has already are not sent once more, and fragments that tabs ask for again
and again are made once for all tabs that show the same.

What a page or a list says holds for the moment, so it is asked for each time, with a weak entity
tag of what it said; answered is 304 while it says the same.

A tab that shows a fragment already is told that nothing is new, or given what was made for another
tab, until a state changes: a status, an incident, a silence. Then it is made anew, at most once a
second. Figures and ages alone may be a little older, and the older the longer the fragment takes to
be made, so that it costs about one part in a thousand of a core, however many tabs are open.
Whoever comes without a tag gets what holds at this moment.

Server-Sent Events would save the questions, but a browser opens six connections to a host at most
(HTTP/1.1): a seventh tab would not load at all.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import blake2b
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from warren.clock import Clock

from warren_api.http.callers import who_reads


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


API = "/api/v1/"
PREFIX = "/fragments/"
KEPT = 64
CHANGED_SECONDS = 1.0  # that it is kept for, whatever changes
FIGURES_SECONDS = 2.0  # at least, where no state changes
MOST_SECONDS = 10.0
COST = 1000  # times as long as it took to make

Name = tuple[str, bytes, bool, bool]
"""Path and query, whether it may be compressed, whether its reader may change anything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the application answered, and when; `route` is the one that matched."""

    start: Message
    body: bytes
    route: Any
    state: Hashable
    made_at: float
    took: float

    @property
    def tag(self) -> str | None:
        return Headers(raw=self.start["headers"]).get("ETag")

    def is_good(self, state: Hashable, now: float) -> bool:
        """Whether it may be given once more."""
        lasts = CHANGED_SECONDS
        if state == self.state:
            lasts = min(max(COST * self.took, FIGURES_SECONDS), MOST_SECONDS)
        return now - self.made_at < lasts


class SharedFragments:
    """ASGI middleware. `state`: another one whenever a state that fragments show has changed."""

    def __init__(self, app: ASGIApp, state: Callable[[], Hashable], clock: Clock) -> None:
        self._app = app
        self._state = state
        self._clock = clock
        self._kept: OrderedDict[Name, Answer] = OrderedDict()
        self._making: dict[Name, asyncio.Task[Answer]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        known = headers.get("If-None-Match", "")
        if not known or scope["method"] != "GET" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        may_be_small = "gzip" in headers.get("Accept-Encoding", "")
        name = scope["path"], scope["query_string"], may_be_small, who_reads().may_change
        answer = await self._answer(name, scope)
        scope["route"] = answer.route  # for whoever counts requests
        start, body = dict(answer.start), answer.body
        start["headers"] = list(start["headers"])
        if answer.tag is not None and has_tag(known, answer.tag):
            become_not_modified(start)
            body = b""
        await send(start)
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, name: Name, scope: Scope) -> Answer:
        kept = self._kept.get(name)
        if kept is not None and kept.is_good(self._state(), self._clock.monotonic()):
            return kept
        making = self._making.get(name)
        if making is None:
            making = asyncio.ensure_future(self._make(name, scope))
            self._making[name] = making
            making.add_done_callback(lambda _: self._making.pop(name))
        return await asyncio.shield(making)  # a client that goes takes it from nobody

    async def _make(self, name: Name, scope: Scope) -> Answer:
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [pair for pair in scope["headers"] if pair[0].lower() != b"if-none-match"]
        inner = {**scope, "headers": headers}
        # Before it is made: what changes meanwhile may not be in it.
        state, began = self._state(), self._clock.monotonic()
        await self._app(inner, nothing, keep)
        start, *parts = messages
        now = self._clock.monotonic()
        body = b"".join(part.get("body", b"") for part in parts)
        answer = Answer(start, body, inner.get("route"), state, now, now - began)
        if start["status"] == HTTPStatus.OK and answer.tag is not None:
            self._kept[name] = answer
            self._kept.move_to_end(name)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return answer
