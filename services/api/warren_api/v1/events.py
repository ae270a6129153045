"""Status changes as Server-Sent Events.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html. The id of each event is
where the client then stands on `warren.lag-status`: `<partition>:<next offset>` for every partition
that has had a change, separated by commas, or `-` while none has. It means the same to every copy
of the API and after a restart, unlike a counter or an order of arrival.

Thousands of changes may have to be matched and written at once: a thread does it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send
from warren.contracts import GroupStatusName
from warren.patterns import searcher

from warren_api.context import ApiContext
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.status_history import Positions, RecordedChange, StatusHistory
from warren_api.v1.lists import Name, Regex, require_cluster, require_read, routes_of
from warren_api.v1.openapi import EVENTS

HEARTBEAT_SECONDS = 15.0  # below the idle timeouts of usual proxies
RETRY_MS = 2000
_GAP = "event: warren.gap\ndata: {}\n\n"
"""Changes were missed and are no longer remembered: the client should load the lists."""
_NOWHERE = "-"  # an empty id would mean that there is none

Wanted = Callable[[RecordedChange], bool]


def positions_of(event_id: str) -> dict[int, int] | None:
    """What an id says; None when it is none of ours."""
    positions: dict[int, int] = {}
    if event_id == _NOWHERE:
        return positions
    for part in event_id.split(","):
        partition, _, offset = part.partition(":")
        if not (partition.isascii() and partition.isdigit() and offset.isascii()):
            return None
        if not offset.isdigit() or len(part) > 40:
            return None
        positions[int(partition)] = int(offset)
    return positions


def id_of(positions: Positions) -> str:
    named = (f"{partition}:{positions[partition]}" for partition in sorted(positions))
    return ",".join(named) or _NOWHERE


@dataclass(eq=False)
class EventStream:
    """One client's stream. `last_event_id`: None begins with what comes from now on."""

    history: StatusHistory
    wanted: Wanted
    last_event_id: str | None = None
    heartbeat: float = HEARTBEAT_SECONDS
    caller: str = ""
    """From where it is followed: callers share the places."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False
    """It makes place for another caller's."""
    _positions: dict[int, int] = field(default_factory=dict)

    async def text(self) -> AsyncIterator[str]:
        """Pieces of the stream, until the service ends, nobody takes them any more, or what the
        client wants takes too long to find, which is said.
        """
        loop, news = asyncio.get_running_loop(), self.news

        def notify() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(news.set)

        stop_listening = self.history.listen(notify)
        try:
            since = positions_of(self.last_event_id) if self.last_event_id else None
            resumed = self.history.resume(since)
            self._positions = {
                partition: min(offset, resumed.positions.get(partition, 0))
                for partition, offset in (since or {}).items()
            }
            gap = _GAP if self.last_event_id and not resumed.is_complete else ""
            told = await asyncio.to_thread(self._told, resumed.missed)
            self._positions, seen = resumed.positions, resumed.sequence
            yield f"retry: {RETRY_MS}\n{gap}{told}id: {id_of(self._positions)}\n\n"
            while not self.history.is_closed and not self.is_over:
                news.clear()
                if changes := self.history.after(seen):
                    if changes[0].sequence > seen + 1:  # forgotten before this client took it
                        yield _GAP
                    if told := await asyncio.to_thread(self._told, changes):
                        yield told
                    seen = changes[-1].sequence
                    continue
                try:
                    await asyncio.wait_for(news.wait(), self.heartbeat)
                except TimeoutError:
                    # With the position: changes that this client did not want count as seen.
                    yield f": still here\nid: {id_of(self._positions)}\n\n"
        finally:
            stop_listening()

    def _told(self, changes: Iterable[RecordedChange]) -> str:
        """Those that are wanted; all of them count as seen."""
        pieces = []
        for recorded in changes:
            self._positions[recorded.partition] = recorded.offset + 1
            if self.wanted(recorded):
                # Bytes: text has ends of lines that are none in a stream of events, as U+2028.
                told = recorded.value.splitlines()
                lines = "".join(f"data: {line.decode()}\n" for line in told)
                pieces.append(f"id: {id_of(self._positions)}\nevent: {recorded.type}\n{lines}\n")
        return "".join(pieces)


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

    def __init__(self, stream: EventStream, followers: list[EventStream]) -> None:
        # X-Accel-Buffering: nginx would else hold events back.
        headers = {"X-Accel-Buffering": "no"}
        super().__init__(stream.text(), media_type=MEDIA_TYPE, headers=headers)
        self._stream = stream
        self._followers = followers
        followers.append(stream)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._stream in self._followers:
                self._followers.remove(self._stream)


def _make_place(followers: list[EventStream], caller: str) -> bool:
    """Of the caller with the most streams the oldest ends, if it has more than this one would."""
    counts = Counter(each.caller for each in followers)
    ((most, count),) = counts.most_common(1)
    if count <= counts[caller] + 1:
        return False
    oldest = next(each for each in followers if each.caller == most)
    followers.remove(oldest)
    oldest.is_over = True
    oldest.news.set()
    return True


def router(context: ApiContext) -> APIRouter:
    routes = routes_of("events")
    followers = list[EventStream]()

    @routes.get(
        "/events",
        response_class=StreamingResponse,
        responses={
            200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": EVENTS}}},
            **documented(
                ProblemKind.INVALID_REQUEST,
                ProblemKind.CLUSTER_NOT_FOUND,
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
        lists again. Without an id the stream begins with what comes next.
        """
        require_read(context)
        if query.cluster is not None:
            require_cluster(context.clusters, query.cluster)
        caller = str(request.client and request.client.host)
        most = context.settings.api.event_streams
        if len(followers) >= most and not _make_place(followers, caller):
            detail = f"{len(followers)} clients follow events already (api.event_streams)."
            raise NotDone(ProblemKind.TOO_MANY_STREAMS, detail, {"Retry-After": RETRY_SECONDS})
        matches = searcher(query.regex or "")
        stream = EventStream(
            context.model.history,
            lambda recorded: query.wanted(recorded) and matches(recorded.change.group),
            last_event_id or query.last_event_id,
            caller=caller,
        )
        return _StreamAnswer(stream, followers)

    return routes
