"""Status changes as they happen, for as many clients as may follow them."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send
from warren.contracts import GroupStatusName
from warren.patterns import searcher

from warren_api.context import ApiContext
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.status_history import RecordedChange
from warren_api.v1.event_stream import EventStream
from warren_api.v1.lists import Name, Regex, require_read, routes_of
from warren_api.v1.openapi import EVENTS

MEDIA_TYPE = "text/event-stream"
RETRY_SECONDS = "10"


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
    """`followers` has one for each client that follows, also of one that went before it began."""

    def __init__(self, stream: EventStream, followers: set[EventStream]) -> None:
        # X-Accel-Buffering: nginx would else hold events back.
        headers = {"X-Accel-Buffering": "no"}
        super().__init__(stream.text(), media_type=MEDIA_TYPE, headers=headers)
        self._stream = stream
        self._followers = followers
        followers.add(stream)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._followers.discard(self._stream)


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("events")
    followers = set[EventStream]()

    @routes.get(
        "/events",
        response_class=StreamingResponse,
        responses={
            200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": EVENTS}}},
            **documented(
                ProblemKind.INVALID_REQUEST,
                ProblemKind.STARTING,
                ProblemKind.TOO_MANY_STREAMS,
            ),
        },
    )
    async def events(
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
        lists again. Without an id the stream begins with what comes next.
        """
        require_read(context)
        if len(followers) >= context.settings.api.event_streams:
            detail = f"{len(followers)} clients follow events already (api.event_streams)."
            raise NotDone(ProblemKind.TOO_MANY_STREAMS, detail, {"Retry-After": RETRY_SECONDS})
        matches = searcher(query.regex or "")
        stream = EventStream(
            context.model.history,
            lambda recorded: query.wanted(recorded) and matches(recorded.change.group),
            last_event_id or query.last_event_id,
        )
        return _StreamAnswer(stream, followers)

    return routes
