"""Status changes as they happen: who may follow them, and whose stream ends where others wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Message, Receive, Scope, Send
from warren.contracts import GroupStatusName

from warren_api.context import ApiContext
from warren_api.http.callers import Holder, Shares, holder
from warren_api.http.names import matcher
from warren_api.http.problem import ProblemKind, documented, problem
from warren_api.model.status_history import RecordedChange
from warren_api.v1.event_stream import EventStream
from warren_api.v1.examples import EVENTS
from warren_api.v1.lists import Name, Regex, require_read


class StreamPlace:
    """Had until it is given back, or goes to somebody else."""

    def __init__(self, places: Shares[StreamPlace], holder: Holder) -> None:
        self.holder = holder
        self._places = places
        self._is_lost = False
        self._leave: Callable[[], None] | None = None

    def when_lost(self, leave: Callable[[], None]) -> None:
        """Calls `leave` once the place goes to somebody else; at once, if it has."""
        self._leave = leave
        if self._is_lost:
            leave()

    def give_back(self) -> None:
        self._places.remove(self)

    def lose(self) -> None:
        self._is_lost = True
        self._places.remove(self)
        if self._leave is not None:
            self._leave()


class StreamPlaces:
    """Used by the event loop only."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = Shares[StreamPlace]()

    def take(self, holder: Holder) -> StreamPlace | None:
        """None where all are taken and nobody has more than the caller would."""
        if len(self._held) >= self.most:
            given_up = self._given_up_for(holder)
            if given_up is None:
                return None
            given_up.lose()
        place = StreamPlace(self._held, holder)
        self._held.add(holder.name, place)
        return place

    def _given_up_for(self, holder: Holder) -> StreamPlace | None:
        crowding = self._held.crowding(holder.name)
        if crowding is not None or not holder.is_admin or self._held.count(holder.name):
            return crowding
        # An admin's first, however many readers there are.
        return self._held.newest(lambda place: not place.holder.is_admin)


MEDIA_TYPE = "text/event-stream"
RETRY_SECONDS = "10"
GIVEN_AWAY = "Another client took this place: the caller has more streams than others."
LIVE_SHARE = 0.01
"""Of a second of CPU that a stream may spend on matching in each second: 100 streams, as many as
there may be by default, take one core at most."""


class EventQuery(BaseModel):
    """Which status changes."""

    model_config = ConfigDict(extra="forbid")

    cluster: Name | None = Field(None, description="Only of this cluster")
    regex: Regex | None = Field(
        None, description="Only of groups in whose name this regular expression matches somewhere"
    )
    status: list[GroupStatusName] = Field(
        [], description="Only changes to these statuses; may be repeated"
    )
    last_event_id: str | None = Field(
        None,
        max_length=4000,
        description="As the header Last-Event-ID, for a first request that a browser cannot give "
        "headers to; the header wins",
    )

    def wanted(self, recorded: RecordedChange) -> bool:
        change = recorded.change
        return self.cluster in (None, change.cluster) and (
            not self.status or change.status in self.status
        )


class _StreamAnswer(StreamingResponse):
    """Gives the place back once the client is gone, also when it went before the stream began.
    Ends when the place goes to somebody else.
    """

    def __init__(self, stream: EventStream, place: StreamPlace) -> None:
        # X-Accel-Buffering: nginx would else hold events back.
        headers = {"X-Accel-Buffering": "no"}
        super().__init__(stream.text(), media_type=MEDIA_TYPE, headers=headers)
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        has_begun = False

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            async with asyncio.timeout(None) as limit:
                self._place.when_lost(lambda: limit.reschedule(loop.time()))
                await super().__call__(scope, receive, send_noted)
        except TimeoutError:
            if not limit.expired():
                raise
            if has_begun:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await _none_left(GIVEN_AWAY)(scope, receive, send)
        finally:
            self._place.give_back()


def _none_left(detail: str) -> Response:
    return problem(ProblemKind.TOO_MANY_STREAMS, detail, {"Retry-After": RETRY_SECONDS})


def router(context: ApiContext) -> APIRouter:
    routes = APIRouter(tags=["events"])
    places = StreamPlaces(context.settings.api.event_streams)

    @routes.get(
        "/events",
        response_class=StreamingResponse,
        responses={
            200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": EVENTS}}},
            **documented(
                ProblemKind.INVALID_REQUEST,
                ProblemKind.PATTERN_TOO_COSTLY,
                ProblemKind.STARTING,
                ProblemKind.TOO_MANY_STREAMS,
            ),
        },
    )
    async def events(
        request: Request,
        query: Annotated[EventQuery, Query()],
        last_event_id: Annotated[
            str | None,
            Header(max_length=4000, description="`id` of the last event that was received"),
        ] = None,
    ) -> Response:
        """Status changes as Server-Sent Events: `event` is the type, `data` the CloudEvent as it
        stands on `warren.lag-status`.

        A client that comes back with the last `id` gets what it has missed, whichever copy of the
        API it comes to. `event: warren.gap` says that some of it is no longer remembered: load the
        lists again. Without an id the stream begins with what comes next. `event: warren.problem`
        ends it: `data` is the problem, such as a regular expression that takes too long to match.
        """
        require_read(context)
        place = places.take(holder(request))  # at once: others ask before this one is answered
        if place is None:
            return _none_left(f"{places.most} clients follow events already (api.event_streams).")
        try:
            matches = matcher(query.regex or "", LIVE_SHARE)
            stream = EventStream(
                context.model.history,
                lambda recorded: query.wanted(recorded) and matches(recorded.change.group),
                last_event_id or query.last_event_id,
            )
            await stream.begin()
        except BaseException:
            place.give_back()
            raise
        return _StreamAnswer(stream, place)

    return routes
